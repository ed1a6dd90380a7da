import { singleLine } from "../../../../report/text/printable.ts";
import type { Alert, DeliveryAnswer, RotateAnswer } from "../../../api/settings-answers.ts";
import { localText } from "../../../design/times.ts";
import { ActButton } from "../act-button.tsx";
import type { Once } from "../shown-once.tsx";
import { deliveryText } from "./delivery-mark.tsx";

interface AlertButtonsProps {
  readonly alert: Alert;
  readonly say: (text: string) => void;
  readonly showOnce: (once: Once) => void;
  readonly showLog: (name: string) => void;
}

/** What may be done with an alert. */
export function AlertButtons({ alert: { name, definition }, say, showOnce, showLog }: AlertButtonsProps) {
  const path = `/alerts/${encodeURIComponent(name)}`;
  const shown = singleLine(name);
  return (
    <span class="row-actions">
      <ActButton<DeliveryAnswer>
        name="Test"
        title={`Send a test to ${shown}?`}
        method="POST"
        path={`${path}/test`}
        done={({ data }) => say(deliveryText(data))}
      >
        <p>Its receiver gets a message that says that it is a test.</p>
      </ActButton>
      <button type="button" onClick={() => showLog(name)}>
        Messages
      </button>
      {definition.to === "webhook" ? (
        <ActButton<RotateAnswer>
          name="New secret"
          title={`Another signing secret for ${shown}?`}
          method="POST"
          path={`${path}/rotate`}
          done={({ secret, before_until }) => {
            const note = `It is shown this once. Messages are signed with the one before, too, until ${localText(before_until)}.`;
            showOnce({ title: `The signing secret of ${shown}`, text: secret, note });
            say("There is another secret.");
          }}
        >
          <p>Its receiver has to know it within a day: until then messages are signed with both.</p>
        </ActButton>
      ) : null}
      <ActButton name="Delete" title={`Delete ${shown}?`} tone="bad" method="DELETE" path={path} done={() => say(`${shown} is deleted.`)}>
        <p>Nobody is told by it any more, and its messages are gone for good.</p>
      </ActButton>
    </span>
  );
}
