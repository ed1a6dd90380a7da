import { singleLine } from "../../../../report/text/printable.ts";
import type { BeatUrlAnswer, Monitor } from "../../../api/settings-answers.ts";
import { ActButton } from "../act-button.tsx";

interface MonitorButtonsProps {
  readonly monitor: Monitor;
  readonly say: (text: string) => void;
  readonly showAddress: (name: string, url: string | null) => void;
}

/** What may be done with a monitor. */
export function MonitorButtons({ monitor: { name, paused, state }, say, showAddress }: MonitorButtonsProps) {
  const path = `/monitors/${encodeURIComponent(name)}`;
  const shown = singleLine(name);
  return (
    <span class="row-actions">
      {paused === null ? (
        <ActButton name="Pause" title={`Pause ${shown}?`} method="POST" path={`${path}/pause`} done={() => say(`${shown} is paused.`)}>
          <p>Nothing is expected of it, and nobody is told of its silence, until it is resumed.</p>
        </ActButton>
      ) : (
        <ActButton name="Resume" title={`Resume ${shown}?`} method="POST" path={`${path}/resume`} done={() => say(`${shown} is watched on.`)}>
          <p>It is watched on: silence counts from now.</p>
        </ActButton>
      )}
      {paused !== null || state === "done" || state === "new" ? null : (
        <ActButton name="Done" title={`Has ${shown} ended in order?`} method="POST" path={`${path}/done`} done={() => say(`${shown} has ended in order.`)}>
          <p>Nothing is expected until its next beat.</p>
        </ActButton>
      )}
      <ActButton<BeatUrlAnswer>
        name="New address"
        title={`Another address for ${shown}?`}
        tone="bad"
        method="POST"
        path={`${path}/rotate`}
        done={({ beat_url }) => {
          showAddress(shown, beat_url);
          say(`${shown} has another address.`);
        }}
      >
        <p>The one that its job calls now leads nowhere from then on.</p>
      </ActButton>
      <ActButton name="Delete" title={`Delete ${shown}?`} tone="bad" method="DELETE" path={path} done={() => say(`${shown} is deleted.`)}>
        <p>Its address leads nowhere then, and what happened to it is gone for good.</p>
      </ActButton>
    </span>
  );
}
