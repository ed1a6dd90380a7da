import { useState } from "preact/hooks";
import { singleLine } from "../../../../report/text/printable.ts";
import type { Alert, AlertList } from "../../../api/settings-answers.ts";
import { type ListColumn, ListTable } from "../../../design/list/list-table.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { useLook } from "../../../live/use-look.ts";
import { type Once, ShownOnce } from "../shown-once.tsx";
import { AlertButtons } from "./alert-buttons.tsx";
import { AlertForm } from "./alert-form.tsx";
import { AlertLog } from "./alert-log.tsx";
import { DeliveryMark } from "./delivery-mark.tsx";

/** Who is told of what: made, tried, and what receivers answered. */
export function AlertsTab() {
  const look = useLook<AlertList>("/alerts");
  const [once, setOnce] = useState<Once | null>(null);
  const [said, setSaid] = useState("");
  const [logOf, setLogOf] = useState<string | null>(null);
  const say = (text: string): void => {
    setSaid(text);
    void look.refresh();
  };
  return (
    <>
      <Part
        title="Alerts"
        aside={
          <span class="said" role="status">
            {said}
          </span>
        }
      >
        <ShownOnce once={once} away={() => setOnce(null)} />
        <Looked look={look} what="these alerts are as they were">
          {({ data }) => (
            <>
              <AlertForm say={say} showOnce={setOnce} />
              {data.length === 0 ? (
                <p role="status">Nobody is told of anything yet.</p>
              ) : (
                <ListTable caption="Alerts" columns={columnsOf(say, setOnce, setLogOf)} rows={data} keyOf={({ name }) => name} />
              )}
            </>
          )}
        </Looked>
      </Part>
      {logOf === null ? null : <AlertLog key={logOf} name={logOf} say={say} close={() => setLogOf(null)} />}
    </>
  );
}

const columnsOf = (say: (text: string) => void, showOnce: (once: Once) => void, showLog: (name: string) => void): readonly ListColumn<Alert>[] => [
  {
    name: "Alert",
    cell: ({ name, disabled }) => (
      <>
        {singleLine(name)}
        {disabled === null ? null : <small class="bad-text">sent nothing any more: {singleLine(disabled.reason)}</small>}
      </>
    ),
  },
  { name: "To", cell: ({ definition: { to, email } }) => `${to}${email === undefined ? "" : ` ${singleLine(email)}`}` },
  { name: "On", cell: ({ definition }) => definition.on.join(", ") },
  { name: "For", cell: ({ definition }) => singleLine(definition.for.join(", ")) },
  {
    name: "Last message",
    cell: ({ last, waiting }) => (
      <>
        {last === null ? "none yet" : <DeliveryMark delivery={last} />}
        {waiting === 0 ? null : <small>{waiting} to be taken yet</small>}
      </>
    ),
  },
  { name: "Do", cell: (alert) => <AlertButtons alert={alert} say={say} showOnce={showOnce} showLog={showLog} /> },
];
