import { z } from "zod";
import { option } from "./option.ts";

/** Examples that are played before a forecast where nobody says how many. */
export const PILOT_EXAMPLES = 10;
/** Fewer say too little of the others (src/forecast/predicted-sum.ts). */
export const LEAST_PILOT = 5;
export const FROM_HISTORY = "history";

const ESTIMATES = `must be a whole number from ${LEAST_PILOT}, the examples to play first, or ${FROM_HISTORY}`;

/** What it will take is said before a run spends it. */
export const FORECAST_OPTIONS = {
  estimate: option({
    kind: "optional_text",
    schema: z.preprocess(
      (value) => (typeof value === "string" && /^\d+$/.test(value) ? Number(value) : value),
      z.union([z.boolean(), z.int().min(LEAST_PILOT), z.literal(FROM_HISTORY)], ESTIMATES),
    ),
    default: undefined,
    http: null,
    fileWide: true,
    besideToml: true,
    value: "N",
    help: `play the first N examples (${PILOT_EXAMPLES} when not given), say what the whole run will take (calls, tokens, money, time) and ask before it goes on with the others; ${FROM_HISTORY} = play none, and say it from finished runs of the same settings (docs/forecasts.md)`,
  }),
  confirm_above: option({
    kind: "number",
    schema: z.number().min(0),
    default: undefined,
    http: null,
    fileWide: true,
    besideToml: true,
    value: "USD",
    help: "ask only where the run, or all runs of the command together, may cost more dollars than that; the forecast is from finished runs of the same settings where there are any, else as with --estimate",
  }),
  yes: option({
    kind: "switch",
    schema: z.boolean(),
    default: false,
    http: null,
    only: "flag",
    besideToml: true,
    help: "go on after a forecast without being asked",
  }),
} as const;
