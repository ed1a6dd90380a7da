import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { useDashboard } from "../../context.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { InfoKeys } from "../../samples/info-keys.ts";
import { ColumnPicker } from "./column-picker.tsx";
import { FilterField } from "./filter-field.tsx";
import { AttemptPages } from "./attempt-pages.tsx";
import { ATTEMPTS_AT_ONCE, attemptColumns, measureOf } from "./attempt-columns.ts";
import type { SamplesProps } from "./samples-props.ts";
import { NoSamples } from "./no-samples.tsx";
import { SearchLine } from "./search-line.tsx";
import { allColumns, shownColumns } from "./sample-columns.ts";
import { SamplesGrid } from "./samples-grid.tsx";
import { useNarrow } from "./use-narrow.ts";

/** The grid and what it is steered by. */
export function SamplesBody({ source, list, view, go }: SamplesProps) {
  const { api } = useDashboard();
  const [picks, setPicks] = useState(false);
  const table = source.table.value;
  // A table has other metrics than before only where a run goes on.
  void source.version.value;
  const metrics = useSame(table?.metrics ?? []);
  const chosen = useSame(view.columns);
  const isNarrow = useNarrow();
  const infoKeys = useMemo(() => new InfoKeys(source.id, api), [source, api]);
  const keys = infoKeys.keys.value;
  const all = useMemo(() => allColumns(metrics, keys), [metrics, keys]);
  const shown = useMemo(() => shownColumns(all, chosen, isNarrow), [all, chosen, isNarrow]);
  const [from, setFrom] = useState(0);
  const rollouts = table?.rollouts ?? 1;
  const measure = measureOf(all, view.sort);
  const columns = useMemo(
    () => (view.attempts && measure !== undefined ? attemptColumns(all, { rollouts, from, measure }) : shown),
    [view.attempts, all, rollouts, from, measure, shown],
  );
  const beyond = (by: 1 | -1): boolean => {
    const next = from + by * ATTEMPTS_AT_ONCE;
    if (!view.attempts || next < 0 || next >= rollouts) return false;
    setFrom(next);
    return true;
  };
  // Asked for once there is a rollout to look at.
  const [wantsKeys, setWantsKeys] = useState(false);
  const first = list.rows.value?.[0];
  useEffect(() => {
    if (wantsKeys && table !== null && first !== undefined) void infoKeys.look(table.placeOf(first));
  }, [wantsKeys, table, first, infoKeys]);
  const lookForKeys = (): void => setWantsKeys(true);
  const pick = (): boolean => {
    lookForKeys();
    setPicks(true);
    return true;
  };
  const tall = (): boolean => {
    go({ ...view, tall: !view.tall });
    return true;
  };
  const attempts = (): boolean => {
    if (rollouts === 1) return false;
    go({ ...view, attempts: !view.attempts }, false);
    return true;
  };
  useShortcuts([
    { keys: ["f"], does: "Attempts at an example beside each other", run: attempts },
    { keys: ["c"], does: "Choose columns", run: pick },
    { keys: ["t"], does: "Tall or compact rows", run: tall },
  ]);
  const rows = list.rows.value;
  const names = { metrics, errorCodes: table?.errorCodes ?? [null], infoKeys: keys };
  return (
    <>
      <search class="filters">
        <FilterField
          filter={view.filter}
          names={names}
          problem={list.problem.value}
          look={lookForKeys}
          go={(filter) => go({ ...view, filter })}
          leave={() => document.querySelector<HTMLElement>("[role=grid]")?.focus()}
        />
        <button type="button" title="Columns (c)" onClick={pick}>
          Columns
        </button>
        <button type="button" title="Tall or compact rows (t)" aria-pressed={view.tall} onClick={tall}>
          Tall rows
        </button>
        {rollouts === 1 ? null : (
          <button type="button" title="Attempts at an example beside each other (f)" aria-pressed={view.attempts} onClick={attempts}>
            Attempts
          </button>
        )}
        {view.attempts && rollouts > ATTEMPTS_AT_ONCE ? <AttemptPages rollouts={rollouts} from={from} beyond={beyond} /> : null}
      </search>
      <SearchLine searches={list.searches} />
      {table === null || rows === null ? <p role="status">Loading rollouts…</p> : null}
      {rows?.length === 0 && list.problem.value === null ? <NoSamples source={source} list={list} view={view} go={go} /> : null}
      {table !== null && rows !== null && rows.length > 0 && measure !== undefined ? (
        <SamplesGrid source={source} table={table} rows={rows} columns={columns} measure={measure} view={view} go={go} beyond={beyond} />
      ) : null}
      {picks ? <ColumnPicker all={all} shown={shown} choose={(columns) => go({ ...view, columns })} onClose={() => setPicks(false)} /> : null}
    </>
  );
}

/** The list of before where it has the same in it. */
function useSame<T extends readonly string[] | null>(list: T): T {
  const kept = useRef(list);
  if (JSON.stringify(kept.current) !== JSON.stringify(list)) kept.current = list;
  return kept.current;
}
