import { isAnsweredByOthers } from "./answered-by.ts";
import { pinOf } from "./pin.ts";
import type { DataPin, Note, Order, ScheduleState, SeenRun } from "./state.ts";

/** What a schedule takes from a run that is over: what it measured, and whether by the same ruler. */
export function endOf(
  { pin, env_digest, answered_by: before }: Pick<ScheduleState, "pin" | "env_digest" | "answered_by">,
  { definition }: Order,
  run_id: string,
  seen: SeenRun | null,
): { readonly changes: Partial<ScheduleState>; readonly notes: readonly Note[] } {
  const status = seen === null ? "DELETED" : seen.suspended ? "SUSPENDED" : seen.status;
  const notes: Note[] = [
    { note: "ended", run_id, seen },
    { note: "event", event: { type: "run.ended", run_id, status } },
  ];
  if (seen === null) return { changes: {}, notes };
  const changed = (type: "data.changed" | "code.changed", from: string, to: string): void =>
    void notes.push({ note: "event", event: { type, run_id, from, to } });
  const of = pinOf(definition);
  const found = pinnedBy(seen, of);
  if (found !== null && pin !== null && pin.of === of && pin.digest !== found.digest) changed("data.changed", pin.digest, found.digest);
  if (seen.env_digest !== null && env_digest !== null && seen.env_digest !== env_digest) changed("code.changed", env_digest, seen.env_digest);
  const { answered_by: after = null } = seen;
  if (before !== undefined && after !== null && isAnsweredByOthers(before, after))
    notes.push({ note: "event", event: { type: "model.changed", run_id, from: before.seen, to: after.seen } });
  // What is pinned stays so: a run with other data was refused it.
  const keeps = found === null || (pin !== null && pin.of === of && definition.data === "pinned");
  const changes = {
    ...(keeps ? {} : { pin: found }),
    ...(seen.env_digest === null ? {} : { env_digest: seen.env_digest }),
    ...(after === null ? {} : { answered_by: after }),
  };
  return { changes, notes };
}

function pinnedBy({ dataset_digest, env_args }: SeenRun, of: string): DataPin | null {
  if (dataset_digest === null) return null;
  const { dataset } = env_args;
  return { of, digest: dataset_digest, ...(typeof dataset === "string" && dataset.startsWith("sha256:") ? { dataset } : {}) };
}
