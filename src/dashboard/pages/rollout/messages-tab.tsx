import type { RefObject } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import { Failure, Notice } from "../../design/notice.tsx";
import { Transcript } from "../../design/transcript/transcript.tsx";
import type { TranscriptHandle } from "../../design/transcript/transcript-props.ts";
import { rowsByMessage, transcriptRows } from "../../design/transcript/transcript-rows.ts";
import { FindBar } from "./find/find-bar.tsx";
import { FindStore } from "./find/find-store.ts";
import { useFoundMarks } from "./find/use-found-marks.ts";
import { FocusedMessage } from "./focused-message.tsx";
import { MessageIndex } from "./message-index.tsx";
import type { MessageStore } from "./message-store.ts";
import { messageInHash } from "./rollout-query.ts";
import { useMessageKeys } from "./use-message-keys.ts";

interface MessagesTabProps {
  readonly messages: MessageStore;
  readonly raw: boolean;
  /** Whole, for being copied. */
  readonly linkOf: (number: number) => string;
}

/** The conversation: found in, walked through by keys, and with an address for each message. */
export function MessagesTab({ messages, raw, linkOf }: MessagesTabProps) {
  const handle = useRef<TranscriptHandle | null>(null);
  const [at, setAt] = useState(-1);
  const [finds, setFinds] = useState(false);
  const [focused, setFocused] = useState<number | null>(null);
  const place = useRef<HTMLDivElement>(null);
  const find = useMemo(() => new FindStore(messages), [messages]);
  useEffect(() => () => find.close(), [find]);
  const rows = useMemo(() => transcriptRows(messages.outlines), [messages]);
  const rowOf = useMemo(() => rowsByMessage(rows), [rows]);
  const goTo = (number: number): boolean => {
    const row = rowOf.get(number);
    return row !== undefined && (handle.current?.go(row) ?? false);
  };
  useFoundMarks(place.current, finds ? find.text.value : "");
  useHashMessage(goTo, messages);
  const closeFind = (): void => {
    setFinds(false);
    find.look("");
    handle.current?.go(Math.max(0, handle.current.at()));
  };
  const step = (by: 1 | -1): boolean => {
    const found = find.found.value;
    if (!finds || found.length === 0) return false;
    const row = rows[handle.current?.at() ?? -1];
    const now = row === undefined ? -1 : row.kind === "message" ? row.number : (row.result ?? row.number);
    const next = by === 1 ? (found.find((number) => number > now) ?? found[0]) : (found.findLast((number) => number < now) ?? found.at(-1));
    return next !== undefined && goTo(next);
  };
  const [said, openFind] = useMessageKeys({ handle, rows, linkOf, step, setFocused, setFinds, isFinding: finds, closeFind });
  const problem = messages.problem;
  return (
    <div class="messages-tab">
      <div class="message-tools">
        <button type="button" title="Find in this rollout (/)" onClick={openFind}>
          Find
        </button>
        <span class="said" role="status">
          {said}
        </span>
      </div>
      {finds ? <FindBar find={find} count={messages.outlines.length} next={() => void step(1)} previous={() => void step(-1)} onClose={closeFind} /> : null}
      {problem === null ? null : <Failure problem={problem} again={() => messages.again()} />}
      {messages.outlines.length === 0 ? <Notice role="status" tone="plain" title="The rollout has no messages." /> : null}
      <div class="message-columns">
        <details class="index-fold" open={window.matchMedia("(min-width: 75rem)").matches}>
          <summary>Outline, {thousands(rows.length)} entries</summary>
          <MessageIndex rows={rows} outlines={messages.outlines} at={at} go={(index) => void handle.current?.go(index)} />
        </details>
        <div class="message-list" ref={place}>
          <Transcript
            label="Messages"
            source={messages}
            raw={raw}
            scrolls="page"
            addressOf={(number) => `#m${number}`}
            onHandle={(given) => {
              handle.current = given;
            }}
            onRow={setAt}
          />
        </div>
      </div>
      {focused === null ? null : <FocusedMessage messages={messages} row={rows[focused] ?? null} raw={raw} onClose={() => setFocused(null)} />}
    </div>
  );
}

/** Goes to the message that the address names, when the page is opened and whenever the address names another. */
function useHashMessage(goTo: (number: number) => boolean, messages: MessageStore): void {
  const newest: RefObject<typeof goTo> = useRef(goTo);
  newest.current = goTo;
  // biome-ignore lint/correctness/useExhaustiveDependencies: of another rollout the address names another message
  useEffect(() => {
    const look = (): void => {
      const number = messageInHash(location.hash);
      if (number !== null) newest.current?.(number);
    };
    look();
    addEventListener("hashchange", look);
    return () => removeEventListener("hashchange", look);
  }, [messages]);
}
