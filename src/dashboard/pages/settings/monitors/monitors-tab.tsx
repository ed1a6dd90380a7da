import { useState } from "preact/hooks";
import { singleLine } from "../../../../report/text/printable.ts";
import type { BeatUrlAnswer, Monitor, MonitorList } from "../../../api/settings-answers.ts";
import { useDashboard } from "../../../context.ts";
import { AskForm, fieldText } from "../../../design/form/ask-form.tsx";
import { TextField } from "../../../design/form/text-field.tsx";
import { type ListColumn, ListTable } from "../../../design/list/list-table.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { Moment } from "../../../design/moment.tsx";
import { Notice } from "../../../design/notice.tsx";
import { useLook } from "../../../live/use-look.ts";
import { type Once, ShownOnce } from "../shown-once.tsx";
import { MonitorButtons } from "./monitor-buttons.tsx";
import { MonitorMark } from "./monitor-mark.tsx";

/** Jobs that call an address while they live: added, paused, and which of them are silent. */
export function MonitorsTab() {
  const { api } = useDashboard();
  const look = useLook<MonitorList>("/monitors");
  const [once, setOnce] = useState<Once | null>(null);
  const [said, setSaid] = useState("");
  const say = (text: string): void => {
    setSaid(text);
    void look.refresh();
  };
  const showAddress = (name: string, url: string | null): void => {
    const note = "It is shown this once. Whoever knows it can say that the job lives.";
    if (url !== null) setOnce({ title: `The address that ${name} calls`, text: url, note });
  };
  const put = async (fields: FormData) => {
    const [name, every, grace] = [fieldText(fields, "name"), fieldText(fields, "every"), fieldText(fields, "grace")];
    const body = { every, ...(grace === "" ? {} : { grace }) };
    const answer = await api.ask<BeatUrlAnswer>(`/monitors/${encodeURIComponent(name)}`, { method: "PUT", body });
    if (!answer.ok) return answer.problem;
    showAddress(singleLine(name), answer.value.beat_url);
    say(`${singleLine(name)} is kept.`);
    return null;
  };
  return (
    <Part
      title="Monitors"
      aside={
        <span class="said" role="status">
          {said}
        </span>
      }
    >
      <ShownOnce once={once} away={() => setOnce(null)} />
      <Looked look={look} what="these monitors are as they were">
        {({ data }) => (
          <>
            <AskForm label="Add a monitor" verb="Keep the monitor" send={put}>
              <TextField name="name" label="Name" isNeeded maxLength={64} placeholder="trainer" hint="One that is there gets these times." />
              <TextField name="every" label="A beat each" isNeeded placeholder="5m" />
              <TextField name="grace" label="It may be late by" placeholder="1m" />
            </AskForm>
            {data.every(({ watched }) => watched) ? null : (
              <Notice role="status" tone="warning" title="This service does not watch: it ends with the command that started it.">
                <p>
                  <code>npx edgewise serve</code> does.
                </p>
              </Notice>
            )}
            {data.length === 0 ? (
              <p role="status">No job is watched yet.</p>
            ) : (
              <ListTable caption="Monitors" columns={columnsOf(say, showAddress)} rows={data} keyOf={({ name }) => name} />
            )}
          </>
        )}
      </Looked>
    </Part>
  );
}

const columnsOf = (say: (text: string) => void, showAddress: (name: string, url: string | null) => void): readonly ListColumn<Monitor>[] => [
  { name: "Monitor", cell: ({ name }) => singleLine(name) },
  { name: "State", cell: (monitor) => <MonitorMark monitor={monitor} /> },
  { name: "Last beat", cell: ({ last_beat_at }) => (last_beat_at === null ? "none yet" : <Moment at={last_beat_at} now={Date.now()} />) },
  { name: "Each", cell: ({ every, grace }) => `${every}, late by ${grace}` },
  { name: "Lost", isNumber: true, cell: ({ losses }) => (losses === 0 ? null : `${losses} times`) },
  { name: "Created by", cell: ({ created_by }) => (created_by === null ? "a run" : singleLine(created_by)) },
  { name: "Do", cell: (monitor) => <MonitorButtons monitor={monitor} say={say} showAddress={showAddress} /> },
];
