import type { DriftFacts, ScheduleFacts, ScheduleView, SeriesEntry, StoredSeriesEvent } from "../../../durable-objects/schedule/schedule-control.ts";
import type { Failure } from "../../errors/result.ts";
import { shownOrigin } from "../../config/plan/shown-config.ts";
import { driftOf, type ScheduleDefinition } from "../../schedules/definition.ts";
import { mask } from "../../errors/masking.ts";
import { nextDues } from "../../schedules/due-times.ts";

/** A schedule as the service shows it. */

const iso = (at: number): string => new Date(at).toISOString();
/** Times that are shown ahead. */
export const SHOWN_NEXT = 5;

const failureShown = ({ code, message, hint }: Failure) => ({ code, message: mask(message), ...(hint === undefined ? {} : { hint: mask(hint) }) });

/** All of it but what may be secret in an address. */
function definitionShown(definition: ScheduleDefinition): ScheduleDefinition {
  const { heartbeat_url, ...table } = definition.eval;
  const shown = { ...definition, drift: driftOf(definition) };
  return typeof heartbeat_url === "string" ? { ...shown, eval: { ...table, heartbeat_url: shownOrigin(heartbeat_url) } } : shown;
}

function entryShown({ due, kind, at, outcome, ended, removed, drift }: SeriesEntry) {
  return {
    due_at: iso(due),
    kind,
    at: iso(at),
    outcome: outcome.kind,
    run_id: outcome.kind === "run" ? outcome.run_id : null,
    reason: outcome.kind === "skipped" ? outcome.reason : outcome.kind === "failed" ? mask(outcome.failure.message) : null,
    status: ended?.status ?? null,
    reward: ended?.avg_reward ?? null,
    reward_ci95: ended?.reward_ci95 ?? null,
    dataset_digest: ended?.dataset_digest ?? null,
    env_digest: ended?.env_digest ?? null,
    removed,
    drift: drift?.verdict === "unjudged" ? { ...drift, reason: mask(drift.reason) } : (drift ?? null),
  };
}

const driftShown = ({ verdict, since, baseline, began, judged, waiting }: DriftFacts) => ({
  verdict,
  since,
  baseline_runs: baseline,
  began_at: iso(began.at),
  began_by: began.reason,
  judged,
  waiting,
});

/** Names of members that are moments. */
const MOMENTS = ["due", "first", "last", "at"];

function eventShown({ seq, at, event }: StoredSeriesEvent) {
  const { type, ...detail } = event;
  const shown = Object.entries(detail).map(([name, value]) => {
    if (MOMENTS.includes(name) && typeof value === "number") return [name, iso(value)];
    return [name, name === "failure" ? failureShown(value as Failure) : value];
  });
  return { seq, at: iso(at), type, detail: Object.fromEntries(shown) as Record<string, unknown> };
}

/** `served`: whether due times are begun here. `now`: Unix milliseconds. */
export function factsShown(
  { name, definition, created_by, created_at, updated_at, paused, active, waiting, pin, env_digest, last, missed, anchor, decided }: ScheduleFacts,
  served: boolean,
  now: number,
) {
  return {
    name,
    definition: definitionShown(definition),
    created_by,
    created_at: iso(created_at),
    updated_at: iso(updated_at),
    paused:
      paused === null
        ? null
        : {
            at: iso(paused.at),
            by: paused.by,
            reason: mask(paused.reason),
            ...(paused.failure === undefined ? {} : { failure: failureShown(paused.failure) }),
          },
    active:
      active === null
        ? null
        : {
            due_at: iso(active.due),
            run_id: active.run_id,
            since: iso(active.since),
            cancelling: active.cancel,
            failure: active.failure === undefined ? null : failureShown(active.failure),
          },
    waiting: waiting.map(({ due, kind }) => ({ due_at: iso(due), kind })),
    pinned_dataset_digest: definition.data === "pinned" ? (pin?.digest ?? null) : null,
    env_digest,
    last: last === null ? null : entryShown(last),
    missed: missed === null ? null : eventShown(missed),
    next: paused === null ? nextDues(definition, anchor, Math.max(decided, now), SHOWN_NEXT).map(iso) : [],
    served,
  };
}

export const scheduleShown = (view: ScheduleView, served: boolean, now: number) => ({
  ...factsShown(view, served, now),
  drift: view.drift === null ? null : driftShown(view.drift),
  series: view.series.map(entryShown),
  events: view.events.map(eventShown),
});
