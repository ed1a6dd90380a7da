import { useMemo, useRef, useState } from "preact/hooks";
import type { SamplesView } from "../../address/samples-view.ts";
import { Notice } from "../../design/notice.tsx";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import type { SamplesList } from "../../samples/samples-list.ts";
import type { SamplesSource } from "../../samples/samples-source.ts";
import { ColumnPicker } from "./column-picker.tsx";
import { FilterField } from "./filter-field.tsx";
import { allColumns, shownColumns } from "./sample-columns.ts";
import { SamplesGrid } from "./samples-grid.tsx";
import { useNarrow } from "./use-narrow.ts";

export interface SamplesBodyProps {
  readonly source: SamplesSource;
  readonly list: SamplesList;
  readonly view: SamplesView;
  readonly go: (next: SamplesView, replaces?: boolean) => void;
}

/** The grid and what it is steered by. */
export function SamplesBody({ source, list, view, go }: SamplesBodyProps) {
  const [picks, setPicks] = useState(false);
  const table = source.table.value;
  // A table has other metrics than before only where a run goes on.
  void source.version.value;
  const metrics = useSame(table?.metrics ?? []);
  const chosen = useSame(view.columns);
  const isNarrow = useNarrow();
  const all = useMemo(() => allColumns(metrics, []), [metrics]);
  const shown = useMemo(() => shownColumns(all, chosen, isNarrow), [all, chosen, isNarrow]);
  const pick = (): boolean => {
    setPicks(true);
    return true;
  };
  const tall = (): boolean => {
    go({ ...view, tall: !view.tall });
    return true;
  };
  useShortcuts([
    { keys: ["c"], does: "Choose columns", run: pick },
    { keys: ["t"], does: "Tall or compact rows", run: tall },
  ]);
  const rows = list.rows.value;
  const names = { metrics, errorCodes: table?.errorCodes ?? [null], infoKeys: [] };
  return (
    <>
      <search class="filters">
        <FilterField
          filter={view.filter}
          names={names}
          problem={list.problem.value}
          go={(filter) => go({ ...view, filter })}
          leave={() => document.querySelector<HTMLElement>("[role=grid]")?.focus()}
        />
        <button type="button" title="Columns (c)" onClick={pick}>
          Columns
        </button>
        <button type="button" title="Tall or compact rows (t)" aria-pressed={view.tall} onClick={tall}>
          Tall rows
        </button>
      </search>
      {table === null || rows === null ? <p role="status">Loading rollouts…</p> : null}
      {rows?.length === 0 && list.problem.value === null ? <NoSamples source={source} view={view} go={go} /> : null}
      {table !== null && rows !== null && rows.length > 0 ? (
        <SamplesGrid source={source} table={table} rows={rows} columns={shown} view={view} go={go} />
      ) : null}
      {picks ? <ColumnPicker all={all} shown={shown} choose={(columns) => go({ ...view, columns })} onClose={() => setPicks(false)} /> : null}
    </>
  );
}

/** An empty grid says why it is. */
function NoSamples({ source, view, go }: Omit<SamplesBodyProps, "list">) {
  if (!source.isWhole.value) return <p role="status">Loading rollouts…</p>;
  if (view.filter.trim() !== "")
    return (
      <Notice role="status" tone="plain" title="No rollout is like that.">
        <p>
          <button type="button" onClick={() => go({ ...view, filter: "" })}>
            Show all rollouts
          </button>
        </p>
      </Notice>
    );
  return (
    <Notice role="status" tone="plain" title={source.table.value?.settled === true ? "This run has no rollouts." : "No rollout is done yet."}>
      {source.table.value?.settled === true ? null : <p>They appear here as they are done.</p>}
    </Notice>
  );
}

/** The list of before where it has the same in it. */
function useSame<T extends readonly string[] | null>(list: T): T {
  const kept = useRef(list);
  if (JSON.stringify(kept.current) !== JSON.stringify(list)) kept.current = list;
  return kept.current;
}
