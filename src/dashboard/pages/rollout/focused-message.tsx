import { useEffect } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";
import { Dialog } from "../../design/dialog.tsx";
import { CallArguments } from "../../design/transcript/call-arguments.tsx";
import { shownMessage } from "../../design/transcript/content.ts";
import { MessageBody } from "../../design/transcript/message-body.tsx";
import type { TranscriptRow } from "../../design/transcript/transcript-rows.ts";
import type { MessageStore } from "./message-store.ts";

interface FocusedMessageProps {
  readonly messages: MessageStore;
  readonly row: TranscriptRow | null;
  readonly raw: boolean;
  readonly onClose: () => void;
}

/** One message alone, without its folds; of a call what it was given, and what came back. */
export function FocusedMessage({ messages, row, raw, onClose }: FocusedMessageProps) {
  const own = row === null ? null : messages.whole(row.number);
  const result = row?.kind === "call" && row.result !== null ? messages.whole(row.result) : null;
  useEffect(() => {
    if (row === null) return;
    messages.want(row.number);
    if (row.kind === "call" && row.result !== null) messages.want(row.result);
  }, [messages, row]);
  if (row === null) return null;
  const title = row.kind === "call" ? `Call of ${singleLine(row.name)}` : `Message ${row.number}: ${singleLine(messages.outlines[row.number]?.role ?? "")}`;
  const message = own === null ? null : shownMessage(own);
  return (
    <Dialog title={title} onClose={onClose}>
      <div class="focused-message">
        {message === null ? <p role="status">Loading…</p> : null}
        {message === null || row.kind === "call" ? null : <MessageBody message={message} raw={raw} />}
        {message === null || row.kind === "message" ? null : <CallArguments text={message.calls[row.call]?.arguments ?? ""} raw={raw} />}
        {result === null ? null : <MessageBody message={shownMessage(result)} raw={raw} />}
      </div>
    </Dialog>
  );
}
