import { singleLine } from "../../../../report/text/printable.ts";
import type { Delivery } from "../../../api/settings-answers.ts";
import { Moment } from "../../../design/moment.tsx";

const LOOKS: Readonly<Record<Delivery["state"], { readonly text: string; readonly sign: string; readonly look: string }>> = {
  waiting: { text: "Waiting", sign: "○", look: "pending" },
  delivered: { text: "Taken", sign: "✓", look: "completed" },
  failed: { text: "Not taken", sign: "✕", look: "failed" },
};

/** Whether a message was taken, and what it was about. */
export function DeliveryMark({ delivery: { state, text, at } }: { readonly delivery: Delivery }) {
  const { text: said, sign, look } = LOOKS[state];
  return (
    <>
      <span class={`status ${look}`}>
        <span aria-hidden="true">{sign}</span> {said}
      </span>{" "}
      <Moment at={at} now={Date.now()} />
      <small class="clipped">{singleLine(text)}</small>
    </>
  );
}

/** In words, for what a test or another attempt came to. */
export function deliveryText({ state, attempts }: Delivery): string {
  const last = attempts.at(-1);
  if (state === "delivered") return `The message was taken${last?.status == null ? "" : ` (${last.status})`}.`;
  if (last === undefined) return "The message waits to be sent.";
  return `The message was not taken${last.problem === null ? "" : `: ${singleLine(last.problem)}`}.`;
}
