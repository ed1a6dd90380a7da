import { useRef, useState } from "preact/hooks";
import { COMPARE } from "../../address/links.ts";
import type { SeriesEntry } from "../../api/schedule-answers.ts";
import { useDashboard } from "../../context.ts";
import { localText, utcText } from "../../design/times.ts";
import { type ListColumn, ListTable } from "../../design/list/list-table.tsx";
import { Part } from "../../design/list/part.tsx";
import { useRowKeys } from "../../keyboard/use-row-keys.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { CameTo, EntryReward } from "./came-to.tsx";
import { DriftMark } from "./drift-mark.tsx";
import { type ScheduleView, toggledRun } from "./schedule-view.ts";

/** Due times that are shown at first, and more with each click. */
const STEP = 50;
const KINDS = { due: "in time", late: "caught up with", manual: "asked for" } as const;

interface SeriesTableProps {
  /** The newest first. */
  readonly series: readonly SeriesEntry[];
  readonly view: ScheduleView;
  readonly go: (next: ScheduleView) => void;
}

/** Each due time, what came of it, and two of their runs beside each other. */
export function SeriesTable({ series, view, go }: SeriesTableProps) {
  const [shown, setShown] = useState(STEP);
  const body = useRef<HTMLTableSectionElement>(null);
  const at = useRowKeys(body, "run");
  const rows = series.slice(0, shown);
  const choose = (id: string | null | undefined): boolean => {
    if (id === null || id === undefined) return false;
    go({ ...view, chosen: toggledRun(view, id) });
    return true;
  };
  // Rows without a run have no link to stand on.
  useShortcuts([{ keys: ["x"], does: "Choose the run for a comparison", run: () => choose(rows.filter(({ run_id }) => run_id !== null)[at()]?.run_id) }]);
  const columns: readonly ListColumn<SeriesEntry>[] = [
    {
      name: "Chosen",
      cell: ({ run_id }) =>
        run_id === null ? null : (
          <input
            type="checkbox"
            aria-label={`Choose run ${run_id}`}
            title="Choose (x)"
            checked={view.chosen.includes(run_id)}
            onChange={() => choose(run_id)}
          />
        ),
    },
    {
      name: "Due",
      cell: ({ due_at, kind }) => (
        <time dateTime={due_at} title={utcText(due_at)}>
          {localText(due_at)}
          <small>{KINDS[kind]}</small>
        </time>
      ),
    },
    { name: "Came to", cell: (entry) => <CameTo entry={entry} rowLink /> },
    { name: "Reward", isNumber: true, cell: (entry) => <EntryReward entry={entry} /> },
    { name: "Drift", cell: ({ drift }) => <DriftMark drift={drift} /> },
  ];
  return (
    <Part title="Runs" aside={<Compared series={series} chosen={view.chosen} />}>
      {series.length === 0 ? <p role="status">No due time has come yet.</p> : null}
      {series.length === 0 ? null : (
        <ListTable
          caption="Runs of the schedule"
          columns={columns}
          rows={rows}
          keyOf={({ due_at }) => due_at}
          isChosen={({ run_id }) => run_id !== null && view.chosen.includes(run_id)}
          body={body}
        />
      )}
      {series.length > shown ? (
        <button type="button" onClick={() => setShown(shown + STEP)}>
          Show more
        </button>
      ) : null}
    </Part>
  );
}

/** The older of two is what the newer is held against. */
function Compared({ series, chosen }: { readonly series: readonly SeriesEntry[]; readonly chosen: readonly string[] }) {
  const { link } = useDashboard();
  if (chosen.length === 0) return null;
  const place = (id: string): number => series.findIndex(({ run_id }) => run_id === id);
  const runs = [...chosen].sort((a, b) => place(b) - place(a));
  return (
    <span role="status">
      {chosen.length === 1 ? "Choose another run to compare them." : <a href={link(COMPARE, { runs: runs.join(",") })}>Compare these two</a>}
    </span>
  );
}
