import { z } from "zod";
import { plainText } from "../../config/plain-text.ts";
import { CATCH_UPS, DATA, OVERLAPS } from "../../schedules/definition.ts";
import { isScheduleName, SCHEDULE_NAME_RULE } from "../../schedules/schedule-name.ts";
import { teamQuery } from "../people/people-schemas.ts";
import { plannedFields } from "../planned-change.ts";

/** Bodies, paths and answers of `/schedules`; what a schedule is, `src/schedules/definition-schema.ts` says. */

export const scheduleQuery = teamQuery;
export const schedulePath = z.strictObject({ schedule: z.string().refine(isScheduleName, SCHEDULE_NAME_RULE) });
export const pauseBody = z.strictObject({ reason: plainText(200).default("paused") });

const text = z.string();
const moment = z.iso.datetime();
const failure = z.strictObject({ code: text, message: text, hint: text.optional() });
const drift = z.strictObject({ baseline: text, first: z.int(), metric: text, false_alarms: z.number(), detect: z.number().optional() });
const definition = z.strictObject({
  cron: text.optional(),
  every: text.optional(),
  time_zone: text,
  jitter: text.optional(),
  overlap: z.enum(OVERLAPS),
  catch_up: z.enum(CATCH_UPS),
  until: moment.optional(),
  keep: z.int().optional(),
  data: z.enum(DATA),
  run_name: text.optional(),
  drift,
  eval: z.record(text, z.json()),
});
const kind = z.enum(["due", "late", "manual"]).describe("In time, caught up with, or asked for.");
const event = z.strictObject({ seq: z.int(), at: moment, type: text, detail: z.record(text, z.json()).describe("What the event tells, by its type.") });
const interval = z.tuple([z.number(), z.number()]);
const judged = z.strictObject({
  verdict: z.enum(["steady", "worse", "better"]),
  metric: text,
  n: z.int().describe("Examples with a score in the run and in its baseline."),
  clusters: z.int().optional(),
  baseline: z.number().describe("Mean over these examples."),
  candidate: z.number(),
  difference: z.number().describe("This run less its baseline."),
  ci95: interval.nullable(),
  level: z
    .strictObject({ difference: z.number(), ci95: interval })
    .describe("Where the series lies, by all of its runs: less the baseline while steady, else less where it was steady."),
  evidence: z.number().describe("Of a change, after this run."),
  limit: z.number().describe("Evidence that is an alarm."),
  errored: z.int().describe("Rollouts without a score, which count nowhere."),
});
const runDrift = z.discriminatedUnion("verdict", [
  z.strictObject({ verdict: z.literal("gathering"), runs: z.int(), of: z.int() }).describe("It is one of the baseline's."),
  z.strictObject({ verdict: z.literal("waiting") }).describe("Its comparison is not done."),
  z.strictObject({ verdict: z.literal("unjudged"), reason: text }),
  judged,
]);
const entry = z.strictObject({
  due_at: moment,
  kind,
  at: moment.describe("When it was decided."),
  outcome: z.enum(["run", "skipped", "failed"]),
  run_id: text.nullable(),
  reason: text.nullable(),
  status: z.enum(["PENDING", "RUNNING", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"]).nullable().describe("Of the run, once it is over."),
  reward: z.number().nullable(),
  reward_ci95: interval.nullable().describe("95 % interval of that mean; null too of runs of before it was noted."),
  dataset_digest: text.nullable(),
  env_digest: text.nullable(),
  removed: z.boolean().describe("The run is deleted, since later ones are kept, or somebody keeps it."),
  drift: runDrift.nullable().describe("What its comparison with the baseline says; null = nothing."),
});
const facts = {
  name: text,
  definition,
  created_by: text,
  created_at: moment,
  updated_at: moment,
  paused: z.strictObject({ at: moment, by: text.nullable().describe("null: the schedule itself."), reason: text, failure: failure.optional() }).nullable(),
  active: z.strictObject({ due_at: moment, run_id: text.nullable(), since: moment, cancelling: z.boolean(), failure: failure.nullable() }).nullable(),
  waiting: z.array(z.strictObject({ due_at: moment, kind })),
  pinned_dataset_digest: text.nullable(),
  env_digest: text.nullable(),
  last: entry.nullable(),
  missed: event.nullable().describe("The newest due times that nobody could begin in time."),
  next: z.array(moment).describe("The next five times."),
  served: z.boolean().describe("Whether due times are begun by this service; a local one that a command started for itself begins none."),
};
const standing = z.strictObject({
  verdict: z.enum(["steady", "worse", "better"]),
  since: text.nullable().describe("The run at which it most likely left where it was steady."),
  baseline_runs: z.array(text),
  began_at: moment,
  began_by: z.enum(["first", "definition.changed", "data.changed", "code.changed", "baseline.changed", "reset"]),
  judged: z.int().describe("Runs since, at most 200."),
  waiting: z.int().describe("Runs that are to be compared yet."),
});
export const schedule = z.strictObject({
  ...facts,
  drift: standing.nullable().describe("Where the series stands; null before a run of it has ended."),
  series: z.array(entry),
  events: z.array(event),
});
export const scheduleList = z.strictObject({ data: z.array(z.strictObject(facts)) });
export const scheduleAnswer = z.strictObject({ data: schedule });
export const schedulePlan = z.strictObject({
  ...plannedFields,
  data: z.strictObject({ name: text, next: z.array(moment) }),
});
