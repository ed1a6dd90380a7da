import { singleLine } from "../../../../report/text/printable.ts";
import { runAddress } from "../../../address/links.ts";
import type { BaselineList } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { Moment } from "../../../design/moment.tsx";
import { SET_BASELINE } from "../commands.ts";
import { ReadList } from "./read-list.tsx";

/** Runs that others are held against, by their names. */
export function BaselinesTab() {
  const { link } = useDashboard();
  return (
    <ReadList<BaselineList["data"][number]>
      title="Baselines"
      path="/baselines"
      columns={[
        { name: "Baseline", cell: ({ name }) => singleLine(name) },
        {
          name: "Run",
          cell: ({ run_id }) => (
            <a href={link(runAddress(run_id))}>
              <code>{singleLine(run_id)}</code>
            </a>
          ),
        },
        { name: "Set by", cell: ({ updated_by }) => singleLine(updated_by) },
        { name: "Set", cell: ({ updated_at }) => <Moment at={updated_at} now={Date.now()} /> },
      ]}
      keyOf={({ name }) => name}
      none={
        <>
          No run has a name to be held against. In a terminal: <code>{SET_BASELINE}</code>
        </>
      }
    />
  );
}
