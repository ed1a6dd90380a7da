import { useEffect } from "preact/hooks";
import { DONE, OPEN } from "../../samples/columns/column-table.ts";
import type { SamplesSource } from "../../samples/samples-source.ts";
import type { RolloutStore } from "./rollout-store.ts";

/** Looks at a rollout of a running run again when the run says that it is there, or counts. */
export function useLateRollout(store: RolloutStore, source: SamplesSource): void {
  const table = source.table.value;
  void source.version.value;
  const row = table?.rowOf(store.place) ?? null;
  const state = row === null ? null : (table?.state(row) ?? null);
  const { value: outline } = store.outline;
  const isNew = (outline === null && store.problem.value !== null && (state === DONE || state === OPEN)) || (outline?.open === true && state === DONE);
  useEffect(() => {
    if (isNew) void store.load();
  }, [isNew, store]);
}
