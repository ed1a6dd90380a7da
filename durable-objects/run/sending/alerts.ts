import type { Occurrence } from "../../../src/alerts/occurrence.ts";
import type { OccurrenceType } from "../../../src/alerts/occurrence-types.ts";
import type { JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import { averageReward, erroredRollouts } from "../../../src/metrics/totals.ts";
import { runName } from "../../../src/teams/team-name.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import { isSuspended } from "../grants/offers.ts";
import type { Before } from "./heartbeat.ts";
import { endedBy } from "../course/ended-by.ts";
import { retryDelay } from "./wake.ts";

/** Occurrences that are kept until they are taken: a run that nobody can tell of for long forgets its oldest. */
const MOST_OWED = 10;
/** Characters of a failure in a text for people. */
const MOST_TEXT = 500;

/** What patterns of alerts are matched with. */
export const namesOfRun = ({ name, env_id, schedule }: Pick<RunConfig, "name" | "env_id" | "schedule">): readonly string[] => [
  ...new Set([...(schedule === undefined ? [] : [schedule.name]), ...(name ? [name.slice(0, 200)] : []), env_id.slice(0, 200)]),
];

/** What alerts say a run is: itself, and the schedule that made it. */
export const subjectOfRun = ({ run_id, schedule }: Pick<RunConfig, "run_id" | "schedule">): Occurrence["subject"] => ({
  run_id,
  ...(schedule === undefined ? {} : { schedule: schedule.name }),
});

/** Called after every transition, when all of it has happened: what alerts are to know of it is owed from here on. */
export function noteOccurrences(ledger: Ledger, head: RunHead, before: Before, context: RunContext): void {
  const wasStalled = head.stall_told === true;
  const settled = head.phase === "settled" && before.phase !== "settled";
  if (!settled && !wasStalled && head.pulse?.stalled !== true) return;
  const config = ledger.config();
  const working = (head.phase === "open" || head.phase === "preparing") && !isSuspended(config, head, context);
  const isStalled = working && head.pulse?.stalled === true;
  const add = (type: OccurrenceType, what: string, rest: Pick<Occurrence, "text" | "data" | "condition">): void => {
    const occurrence: Occurrence = {
      id: `run/${runName(config)}/${head.generation}/${what}`,
      type,
      at: context.now,
      names: namesOfRun(config),
      subject: subjectOfRun(config),
      ...rest,
    };
    const owed = [...(head.alerts?.owed ?? []), occurrence].slice(-MOST_OWED);
    head.alerts = { owed, retry_at: context.now, tries: 0 };
  };
  const called = `${config.name ? `${config.name.slice(0, 200)} ` : ""}(${config.env_id}, ${config.model.slice(0, 200)}, run ${config.run_id})`;
  if (isStalled !== wasStalled) {
    if (isStalled) head.stall_told = true;
    else delete head.stall_told;
    const text = isStalled
      ? `Nothing progresses in ${called}.`
      : `${called} ${head.paused !== undefined ? "is paused" : working ? "progresses again" : `is ${head.status}, and at work no more`}.`;
    add("run.stalled", `stalled/${context.now}`, {
      text,
      data: factsOf(head),
      condition: { key: `run.stalled/${config.run_id}`, state: isStalled ? "on" : "off" },
    });
  }
  // Nobody asked for an end by a budget.
  if (!settled || (head.status === "CANCELLED" && endedBy(head.failure) === null)) return;
  const reward = averageReward(head.totals);
  const why = head.failure === null ? "" : `: ${head.failure.message.slice(0, MOST_TEXT)}`;
  if (head.status === "COMPLETED")
    add("run.completed", "completed", { text: `COMPLETED ${called}, reward ${reward?.toFixed(4) ?? "none"}.`, data: factsOf(head) });
  else add("run.failed", "failed", { text: `${head.status} ${called}${why}`, data: factsOf(head) });
}

function factsOf({ status, n, done, totals, failure, generation }: RunHead): JsonObject {
  return {
    status,
    generation,
    examples: n,
    examples_done: done,
    rollouts: totals.rollouts,
    rollouts_with_errors: erroredRollouts(totals),
    avg_reward: averageReward(totals),
    ...(failure === null ? {} : { failure: failure.code }),
  };
}

/** What is to be told now; dates the next try. */
export function takeAlerts(head: RunHead, context: RunContext): readonly Occurrence[] {
  if (head.alerts === undefined || context.now < head.alerts.retry_at) return [];
  const tries = head.alerts.tries + 1;
  head.alerts = { ...head.alerts, tries, retry_at: context.now + retryDelay(tries) };
  return head.alerts.owed;
}

/** The alert book has these. */
export function alertsTold(head: RunHead, ids: readonly string[]): null {
  const owed = head.alerts?.owed.filter(({ id }) => !ids.includes(id)) ?? [];
  if (owed.length === 0) delete head.alerts;
  else if (head.alerts !== undefined) head.alerts = { ...head.alerts, owed, tries: 0 };
  return null;
}
