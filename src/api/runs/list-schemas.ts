import { z } from "zod";
import { RUN_STATUSES } from "../../config/run-status.ts";
import { plainText } from "../../config/plain-text.ts";
import { RUN_ORDERS } from "../../../durable-objects/registry/lists/list-query.ts";
import { common, listedMetadata, runCost, state, waitsForCode } from "../response-schemas.ts";
import { wholeNumber } from "../schemas.ts";

/** `GET /evaluations/`: what is asked for, and what is answered. */

const text = z.string();
const count = z.int().min(0);
const moment = z.iso.datetime().nullable();
const object = z.record(z.string(), z.json());

export const MAX_LIST = 1000;
/** Statuses between commas. */
const statuses = z
  .string()
  .refine(
    (given) => given.split(",").every((each) => (RUN_STATUSES as readonly string[]).includes(each)),
    `must be of ${RUN_STATUSES.join(", ")}, with commas between`,
  );

export const listQuery = z.strictObject({
  skip: wholeNumber().default(0),
  // Refused rather than cut: a client that counts pages by its own limit would skip rows.
  limit: wholeNumber(1, MAX_LIST).default(50),
  environment_name: plainText(200).optional(),
  suite_id: plainText(200).optional(),
  team_id: plainText(200).optional(),
  search: plainText(200).optional().describe("Words, each of which stands in the run's id, name, environment or model."),
  status: statuses.optional().describe("Runs of these statuses, with commas between."),
  model: plainText(256).optional().describe("Runs of this model."),
  tag: plainText(100).optional().describe("Runs that are tagged with this."),
  created_by: plainText(200).optional().describe("Runs that this user made, or a schedule or an evaluator of theirs."),
  sort: z.enum(RUN_ORDERS).default("created").describe("What the list is in the order of; runs that lack it come last."),
  order: z.enum(["desc", "asc"]).default("desc"),
});

export const evaluationList = z.strictObject({
  evaluations: z.array(
    z.strictObject({
      ...common,
      started_at: moment.describe("Null also where the service noted nothing of it, in runs of before."),
      finalized_at: moment.describe("When the status became terminal; null as started_at."),
      team_id: text.nullable(),
      metadata: z.strictObject({ ...listedMetadata, extra_env_kwargs: object }),
      edgewise: z.strictObject({
        ...state,
        active: z.boolean(),
        waiting: waitsForCode.optional(),
        paused: z.literal(true).optional().describe("Nothing of it begins until somebody continues it."),
        errored_rollouts: count.nullable(),
        stopped_early: z.literal(true).optional().describe("Its rule to stop by was met."),
        cost: runCost.optional().describe("Absent where it is known of no rollout."),
        tokens: z.strictObject({ input: count, output: count }).optional().describe("Absent in what the service noted of runs of before."),
        created_by: text.optional().describe("The user who made it; absent in runs of before."),
        judges_cost_usd: z.number().optional().describe("What its judges cost beside that, as far as it is known."),
      }),
    }),
  ),
  total: count,
  skip: count,
  limit: count,
});
