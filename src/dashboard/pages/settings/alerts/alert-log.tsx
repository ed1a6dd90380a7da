import { singleLine } from "../../../../report/text/printable.ts";
import type { Delivery, DeliveryAnswer, DeliveryList } from "../../../api/settings-answers.ts";
import { type ListColumn, ListTable } from "../../../design/list/list-table.tsx";
import { Part } from "../../../design/list/part.tsx";
import { Looked } from "../../../design/looked.tsx";
import { localText } from "../../../design/times.ts";
import { useLook } from "../../../live/use-look.ts";
import { ActButton } from "../act-button.tsx";
import { DeliveryMark, deliveryText } from "./delivery-mark.tsx";

interface AlertLogProps {
  readonly name: string;
  readonly say: (text: string) => void;
  readonly close: () => void;
}

/** Messages of an alert, and what its receiver answered. */
export function AlertLog({ name, say, close }: AlertLogProps) {
  const path = `/alerts/${encodeURIComponent(name)}/messages`;
  const look = useLook<DeliveryList>(path);
  const columns: readonly ListColumn<Delivery>[] = [
    { name: "Message", cell: (delivery) => <DeliveryMark delivery={delivery} /> },
    { name: "On", cell: ({ type }) => type },
    {
      name: "Attempts",
      cell: ({ attempts, next_at }) => (
        <>
          {attempts.map(({ at, status, problem, body }) => (
            <div key={at}>
              {localText(at)}: {status ?? "no answer"}
              {problem === null ? null : <small class="bad-text">{singleLine(problem)}</small>}
              {body === "" ? null : <small class="clipped">{singleLine(body)}</small>}
            </div>
          ))}
          {next_at === null ? null : <small>the next {localText(next_at)}</small>}
        </>
      ),
    },
    {
      name: "Do",
      cell: ({ id }) => (
        <ActButton<DeliveryAnswer>
          name="Send again"
          title="Send this message once more?"
          method="POST"
          path={`${path}/${encodeURIComponent(id)}/resend`}
          done={({ data }) => {
            say(deliveryText(data));
            void look.refresh();
          }}
        >
          <p>It has the id that it had, by which its receiver knows that it is the same.</p>
        </ActButton>
      ),
    },
  ];
  return (
    <Part
      title={`Messages of ${singleLine(name)}`}
      aside={
        <button type="button" onClick={close}>
          Close
        </button>
      }
    >
      <Looked look={look} what="these messages are as they were">
        {({ data }) =>
          data.length === 0 ? (
            <p role="status">No message yet.</p>
          ) : (
            <ListTable caption={`Messages of ${singleLine(name)}`} columns={columns} rows={data} keyOf={({ id }) => id} />
          )
        }
      </Looked>
    </Part>
  );
}
