import { useRef } from "preact/hooks";
import type { ListedEvaluation } from "../../api/answers.ts";
import { useRowKeys } from "../../keyboard/use-row-keys.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { RunRow } from "./run-row.tsx";
import { type RunsQuery, type Sort, sortedBy, toggled } from "./runs-query.ts";

interface RunsTableProps {
  readonly runs: readonly ListedEvaluation[];
  readonly query: RunsQuery;
  readonly go: (next: RunsQuery, replaces?: boolean) => void;
  readonly isLoading: boolean;
}

/** Null: nothing to sort by. */
const COLUMNS: readonly (readonly [name: string, sort: Sort | null])[] = [
  ["Status", "status"],
  ["Run", null],
  ["Environment", "environment"],
  ["Model", "model"],
  ["Reward", "reward"],
  ["Done", "done"],
  ["Tokens", null],
  ["Cost", "cost"],
  ["Created", "created"],
];

/** Columns that are read digit under digit. */
const COUNTS: readonly string[] = ["Tokens", "Cost"];

/** Runs with what tells one from another. The focus is where the keys are: on the link of a row. */
export function RunsTable({ runs, query, go, isLoading }: RunsTableProps) {
  const body = useRef<HTMLTableSectionElement>(null);
  const at = useRowKeys(body, "run");
  const choose = (): boolean => {
    const run = runs[at()];
    if (run !== undefined) go({ ...query, chosen: toggled(query, run.evaluation_id) });
    return run !== undefined;
  };
  useShortcuts([{ keys: ["x"], does: "Choose the run for a comparison", run: choose }]);
  return (
    <div class="scrolled">
      <table class="rows" aria-busy={isLoading}>
        <caption class="visually-hidden">Runs</caption>
        <thead>
          <tr>
            <th scope="col">
              <span class="visually-hidden">Chosen</span>
            </th>
            {COLUMNS.map(([name, sort]) => (
              <th
                key={name}
                scope="col"
                class={COUNTS.includes(name) ? "is-end" : undefined}
                aria-sort={sort !== null && query.sort === sort ? (query.order === "asc" ? "ascending" : "descending") : undefined}
              >
                {sort === null ? (
                  name
                ) : (
                  <button type="button" class="sorts" onClick={() => go(sortedBy(query, sort), false)}>
                    {name}
                    <span aria-hidden="true">{query.sort === sort ? (query.order === "asc" ? " ↑" : " ↓") : ""}</span>
                  </button>
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {runs.map((run) => (
            <RunRow key={run.evaluation_id} run={run} query={query} go={go} />
          ))}
        </tbody>
      </table>
    </div>
  );
}
