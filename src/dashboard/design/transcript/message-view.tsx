import { useEffect } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import { singleLine } from "../../../report/text/printable.ts";
import { turnTexts } from "../../../report/text/turn-text.ts";
import { Clamped } from "./clamped.tsx";
import { shownMessage } from "./content.ts";
import { linesOf } from "./folding.ts";
import { MessageBody } from "./message-body.tsx";
import type { RowProps } from "./transcript-props.ts";
import type { MessageRow } from "./transcript-rows.ts";

interface MessageViewProps extends RowProps {
  readonly row: MessageRow;
}

/** One message: who says it, what it took, and what it says. */
export function MessageView({ row: { number, turn }, source, raw, addressOf, note, body, position, isFolded, toggle }: MessageViewProps) {
  const outline = source.outlines[number];
  const whole = source.whole(number);
  const isWanted = !isFolded && whole === null;
  useEffect(() => {
    if (isWanted) source.want(number);
  }, [isWanted, number, source]);
  if (outline === undefined) return null;
  const own = turnText(source, number, turn);
  const role = singleLine(outline.role);
  // It does nothing but call: its calls stand below.
  const isEmpty = outline.chars === 0 && outline.reasoning_chars === undefined && outline.tool_calls !== undefined;
  const noted = note?.(number) ?? null;
  const other = whole === null ? null : (body?.(number, whole) ?? null);
  return (
    <article
      class={`message role-${roleClass(outline.role)}`}
      id={addressOf ? `m${number}` : undefined}
      data-row
      tabIndex={-1}
      aria-label={`${role}, message ${number}`}
      aria-posinset={position[0]}
      aria-setsize={position[1]}
    >
      <header class="message-head">
        <button type="button" class="fold" aria-expanded={!isFolded} title="Fold or unfold (Enter)" onClick={toggle}>
          <span class="role">{role}</span>
        </button>
        {own === null ? null : <span class="turn">{own}</span>}
        {outline.part === "prompt" ? <span class="turn">prompt</span> : null}
        {isFolded ? <span class="turn folded-text">{singleLine(outline.text.slice(0, 120))}</span> : null}
        {noted === null ? null : <span class="message-note">{singleLine(noted)}</span>}
        <span class="message-size">{outline.chars === 0 ? "" : `${thousands(outline.chars)} characters`}</span>
        {addressOf ? (
          <a class="message-link" href={addressOf(number)} title="Address of this message (c copies it)">
            #{number}
          </a>
        ) : null}
      </header>
      {isFolded || isEmpty ? null : (
        <Clamped lines={linesOf(outline.role, source.outlines.length)}>
          {whole === null ? (
            <pre class="raw-piece is-coming">{singleLine(outline.text)}</pre>
          ) : (
            (other ?? <MessageBody message={shownMessage(whole)} raw={raw} />)
          )}
        </Clamped>
      )}
    </article>
  );
}

const ROLES: readonly string[] = ["system", "developer", "user", "assistant", "tool", "text"];
const roleClass = (role: string): string => (ROLES.includes(role) ? role : "other");

/** `turn 3 · 1.2s · 900 + 60 tokens`; null of what no model said. */
function turnText({ turns }: RowProps["source"], number: number, turn: number | null): string | null {
  if (turn === null) return null;
  // Turns are those of all answers, or of none.
  const facts = turns[turn - 1];
  return [`turn ${turn}`, ...(facts?.message === number ? turnTexts(facts) : [])].join(" · ");
}
