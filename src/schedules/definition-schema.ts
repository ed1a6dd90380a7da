import { z } from "zod";
import { BASELINE_RULE, isBaselineName } from "../config/baseline-name.ts";
import { canonicalJson } from "../config/canonical-json.ts";
import { plainText } from "../config/plain-text.ts";
import { readsCache } from "../config/plan/run-cache.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import { type DriftSettings, FIRST_RUNS, NO_BASELINE, USUAL_DRIFT } from "../drift/settings.ts";
import { cronProblem } from "./cron.ts";
import { DATE, hasDate } from "./dated-names.ts";
import { CATCH_UPS, DATA, OVERLAPS, type ScheduleDefinition } from "./definition.ts";
import { isTimeZone } from "./local-time.ts";
import { SPAN_RULE, spanOf } from "../config/span.ts";

/** A schedule as a file or a request says it. One definition for both: what it lacks is filled in by `definitionOf`. */

const DAY_MS = 86_400_000;
const MOST_EVERY_MS = 366 * DAY_MS;
const span = (most: number, mostText: string) =>
  z
    .string()
    .refine((text) => spanOf(text) !== null, SPAN_RULE)
    .refine((text) => (spanOf(text) ?? 1) > 0 && (spanOf(text) ?? 0) <= most, `must be from 1s to ${mostText}`);

const cron = z
  .string()
  .max(200)
  .superRefine((text, context) => {
    const problem = cronProblem(text.trim());
    if (problem !== null) context.addIssue({ code: "custom", message: problem });
  });

export const MOST_KEPT = 1_000;

/** Runs of a baseline: all of them are read with each run that is compared. */
const MOST_FIRST = 20;

export const driftSchema = z.strictObject({
  baseline: z
    .string()
    .refine(isBaselineName, BASELINE_RULE)
    .optional()
    .describe(`What each run is compared with: ${FIRST_RUNS} (the default: the first runs of the series), ${NO_BASELINE}, or the name of a baseline.`),
  first: z.int().min(1).max(MOST_FIRST).optional().describe(`Runs of the baseline where it is ${FIRST_RUNS}; without it ${USUAL_DRIFT.first}.`),
  metric: plainText(256).min(1).optional().describe("What is compared; without it the reward."),
  false_alarms: z.number().min(0.01).max(20).optional().describe("At most so many in 100 runs, on average, while nothing changes; without it 1."),
  detect: z
    .number()
    .gt(0)
    .optional()
    .describe("The size of change to look for; without it a twentieth of what the metric can be. Others are found too, later."),
});

const fields = z.strictObject({
  cron: cron.optional().describe("Five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly, @yearly."),
  every: span(MOST_EVERY_MS, "366d").optional().describe("Instead of cron: an interval such as 6h, from when it was added."),
  time_zone: z
    .string()
    .max(100)
    .refine(isTimeZone, "must be a zone of the IANA database, such as Europe/Berlin")
    .optional()
    .describe("Of cron and of dates in names; without it UTC. A local time that does not exist or comes twice counts once."),
  jitter: span(DAY_MS, "1d").optional().describe("Each due time begins up to so much later."),
  overlap: z.enum(OVERLAPS).optional().describe("While the run before is at work: skip this one (the default), queue it, or cancel that one."),
  catch_up: z.enum(CATCH_UPS).optional().describe("Due times that passed while nobody could begin them: none, the last (the default), or all of them."),
  until: z.iso.datetime({ offset: true }).optional().describe("Nothing is due after it."),
  keep: z.int().min(1).max(MOST_KEPT).optional().describe("Settled runs that stay; older ones are deleted, but for those that somebody keeps."),
  data: z.enum(DATA).optional().describe("pinned (the default): the data of the first run; latest: whatever is there then."),
  run_name: plainText(150).min(1).optional().describe(`What its runs are called; ${DATE} stands for the day of the due time.`),
  drift: driftSchema.optional().describe("What its runs are held against, and how sure an alarm is."),
  eval: z.record(z.string(), z.json()).describe("A table of a config file, for one evaluation: env_id, model and whatever else `eval run FILE.toml` reads."),
});

export const definitionSchema = fields
  .refine(({ cron, every }) => (cron === undefined) !== (every === undefined), { path: ["cron"], error: "or every must be given, and not both" })
  .refine(({ eval: table, data }) => data === "latest" || !hasDate((table as JsonObject).env_args), {
    path: ["data"],
    error: `must be "latest" where env_args name other data each day (${DATE})`,
  })
  .refine(({ drift }) => drift?.first === undefined || (drift.baseline ?? FIRST_RUNS) === FIRST_RUNS, {
    path: ["drift", "first"],
    error: `is for the baseline ${FIRST_RUNS} alone`,
  })
  // An answer from before has nothing to say of the model as it is by now.
  .refine(({ drift, eval: table }) => drift?.baseline === NO_BASELINE || !readsCache(table as JsonObject), {
    path: ["eval", "cache"],
    error: `would answer its runs from the cache, and a change of the model would never show: leave it out, or compare nothing (drift.baseline = "${NO_BASELINE}")`,
  });

export type GivenDefinition = z.input<typeof definitionSchema>;

/** With defaults filled in; equal definitions are equal texts. */
export function definitionOf({
  cron,
  every,
  time_zone,
  jitter,
  overlap,
  catch_up,
  until,
  keep,
  data,
  run_name,
  drift,
  eval: table,
}: z.output<typeof definitionSchema>): ScheduleDefinition {
  return {
    ...(cron === undefined ? {} : { cron: cron.trim().replace(/\s+/g, " ") }),
    ...(every === undefined ? {} : { every }),
    time_zone: time_zone ?? "UTC",
    ...(jitter === undefined ? {} : { jitter }),
    overlap: overlap ?? "skip",
    catch_up: catch_up ?? "last",
    ...(until === undefined ? {} : { until: new Date(until).toISOString() }),
    ...(keep === undefined ? {} : { keep }),
    data: data ?? "pinned",
    ...(run_name === undefined ? {} : { run_name }),
    ...driftIn(drift),
    eval: table as JsonObject,
  };
}

/** What is as usual is left out, as in a definition that was stored before there was any. */
function driftIn({ baseline, first, metric, false_alarms, detect }: z.output<typeof driftSchema> = {}): { readonly drift?: DriftSettings } {
  const drift: DriftSettings = {
    baseline: baseline ?? USUAL_DRIFT.baseline,
    first: first ?? USUAL_DRIFT.first,
    metric: metric ?? USUAL_DRIFT.metric,
    false_alarms: false_alarms ?? USUAL_DRIFT.false_alarms,
    ...(detect === undefined ? {} : { detect }),
  };
  return canonicalJson({ ...drift }) === canonicalJson({ ...USUAL_DRIFT }) ? {} : { drift };
}
