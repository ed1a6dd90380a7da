import { z } from "zod";
import { shortText } from "./option-values.ts";
import { EXAMPLES_OF_RESCORE } from "../plan/rescored-from.ts";

/** How rollouts are scored again: the flags of `npx edgewise rescore` and the fields of `rescore` in a creation, defined once. */
export const RESCORE_OPTIONS = {
  rubric: {
    schema: shortText(128),
    value: "NAME",
    help: "score by this one of the rubrics that the environment offers (`rubrics`), in place of its own",
  },
  errors_only: {
    schema: z.boolean(),
    value: null,
    help: "score only rollouts that ended in a scorer error; all others keep their scores",
  },
  examples: {
    schema: z.enum(EXAMPLES_OF_RESCORE),
    value: "data|rows",
    help: "where answers and columns come from: data = the environment's data set, by example id and equal prompt; rows = what the rows hold (default: data where the environment is the one that made the rows, else rows)",
  },
} as const;

export type RescoreOptionName = keyof typeof RESCORE_OPTIONS;
