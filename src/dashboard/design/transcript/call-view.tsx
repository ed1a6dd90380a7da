import { useEffect } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";
import { CallArguments } from "./call-arguments.tsx";
import { Clamped } from "./clamped.tsx";
import { shownMessage } from "./content.ts";
import { linesOf } from "./folding.ts";
import { MessageBody } from "./message-body.tsx";
import type { RowProps } from "./transcript-props.ts";
import type { CallRow } from "./transcript-rows.ts";

interface CallViewProps extends RowProps {
  readonly row: CallRow;
}

/** A call of a tool, and beside it what came back. */
export function CallView({ row, source, raw, addressOf, note, body, position, isFolded, toggle }: CallViewProps) {
  const { number, call, result, name } = row;
  const calling = source.whole(number);
  const answer = result === null ? null : source.whole(result);
  const wants = !isFolded && (calling === null || (result !== null && answer === null));
  useEffect(() => {
    if (!wants) return;
    source.want(number);
    if (result !== null) source.want(result);
  }, [wants, number, result, source]);
  const given = calling === null ? null : (shownMessage(calling).calls[call]?.arguments ?? "");
  const lines = linesOf("tool", source.outlines.length);
  const noted = result === null ? null : (note?.(result) ?? null);
  const other = answer === null || result === null ? null : (body?.(result, answer) ?? null);
  const shownName = singleLine(name);
  return (
    <article
      class="tool-call"
      id={addressOf && result !== null ? `m${result}` : undefined}
      data-row
      data-call
      tabIndex={-1}
      aria-label={`Call of ${shownName} by message ${number}${result === null ? ", without a result" : `, result message ${result}`}`}
      aria-posinset={position[0]}
      aria-setsize={position[1]}
    >
      <header class="message-head">
        <button type="button" class="fold" aria-expanded={!isFolded} title="Fold or unfold (Enter)" onClick={toggle}>
          <span class="role">→ {shownName}</span>
        </button>
        {noted === null ? null : <span class="message-note">{singleLine(noted)}</span>}
        <span class="message-size">{result === null ? "no result" : ""}</span>
        {addressOf && result !== null ? (
          <a class="message-link" href={addressOf(result)} title="Address of this message (c copies it)">
            #{result}
          </a>
        ) : null}
      </header>
      {isFolded ? null : (
        <div class="call-sides">
          <div>
            <span class="visually-hidden">Arguments</span>
            <Clamped lines={lines}>{given === null ? <Coming /> : <CallArguments text={given} raw={raw} />}</Clamped>
          </div>
          {result === null ? null : (
            <div>
              <span class="visually-hidden">Result</span>
              <Clamped lines={lines}>{answer === null ? <Coming /> : (other ?? <MessageBody message={shownMessage(answer)} raw={raw} />)}</Clamped>
            </div>
          )}
        </div>
      )}
    </article>
  );
}

const Coming = () => <p class="text-note">Loading…</p>;
