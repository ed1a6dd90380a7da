import { z } from "zod";
import { isRunId } from "../../../r2-layout/keys.ts";
import { evaluation, runState } from "../response-schemas.ts";
import type { Operation } from "../operation.ts";

/** Runs of one stream: what one screen shows. */
export const MAX_FOLLOWED = 100;

const ids = z
  .string()
  .refine((text) => text === "" || text.split(",").every(isRunId), "must be run ids, eight hex characters each, with commas between")
  .refine((text) => text.split(",").length <= MAX_FOLLOWED, `must be at most ${MAX_FOLLOWED} ids`);

export const statesQuery = z.strictObject({
  ids: ids.default("").describe("Ids of runs, with commas between."),
  list: z.enum(["true", "false"]).default("false").describe("With `true` also when the list of runs is another one."),
  full: z.enum(["true", "false"]).default("false").describe("With `true` runs as getEvaluation has them, less what does not change while they work."),
});

/** The data of a `state` with `full=true`. */
export const fullState = evaluation
  .pick({
    ...{ evaluation_id: true, name: true, status: true, error_message: true, metrics: true, total_samples: true, is_public: true },
    ...{ created_at: true, updated_at: true, started_at: true, finalized_at: true },
  })
  .extend({ edgewise: runState });

export const LIVE_OPERATIONS: readonly Operation[] = [
  {
    method: "get",
    path: "/evaluation-states",
    id: "streamStates",
    summary:
      "Server-sent events of several runs: state with the run as the list has it, at once and whenever it changes; gone for one that is not there; list with a text that is another one when the list may be; end when all have settled and no list is followed. A stream ends after 25 s; come back with the ids that are left",
    query: statesQuery,
    answers: { 200: ["text/event-stream"] },
    errors: [404, 422],
  },
];
