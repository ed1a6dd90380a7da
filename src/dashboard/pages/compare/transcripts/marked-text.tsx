import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { thousands } from "../../../../report/text/format.ts";
import { clip } from "../../../../cells/clip.ts";
import { markedParts } from "../../../design/text/marks.ts";
import type { DiffPart } from "./diff-texts.ts";

/** Of a long part that both have, so many characters are shown at either end. */
const SHOWN_ENDS = 300;
/** And it is folded where it has more than so many. */
const FOLDED = 1_200;

interface MarkedTextProps {
  readonly parts: readonly DiffPart[];
  /** Of which of the two texts. */
  readonly side: "left" | "right";
  /** Nothing is folded: where differences are not known, or there are none. */
  readonly isWhole?: boolean;
}

/** One of two texts: what the other has not is marked, what both have at length is folded. What is unseen in it is named, and nothing in it acts. */
export function MarkedText({ parts, side, isWhole = parts.length === 1 }: MarkedTextProps) {
  const own = parts.filter(({ kind }) => kind === "same" || kind === side);
  return (
    <pre class="marked-text" dir="ltr">
      {own.map(({ kind, text }, at) =>
        kind === "same" ? (
          isWhole || text.length <= FOLDED ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
            <Plain key={at} text={text} />
          ) : (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
            <Folded key={at} text={text} />
          )
        ) : side === "left" ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
          <del key={at}>
            <Plain text={text} />
          </del>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: a part is its place
          <ins key={at}>
            <Plain text={text} />
          </ins>
        ),
      )}
    </pre>
  );
}

function Folded({ text }: { readonly text: string }) {
  const [isOpen, setOpen] = useState(false);
  if (isOpen) return <Plain text={text} />;
  const [start, end] = [clip(text, SHOWN_ENDS), text.slice(text.length - SHOWN_ENDS)];
  return (
    <>
      <Plain text={start} />
      <button type="button" class="equal-part" onClick={() => setOpen(true)}>
        {thousands(text.length - start.length - end.length)} characters are the same in both
      </button>
      <Plain text={end} />
    </>
  );
}

/** Characters that nobody sees, or that act, stand there by their numbers. */
const Plain = ({ text }: { readonly text: string }): ComponentChildren =>
  markedParts(text).map((part) =>
    "text" in part ? (
      part.text
    ) : (
      <span key={part.at} class="mark">
        {part.name}
        {part.count > 1 ? `×${thousands(part.count)}` : ""}
      </span>
    ),
  );
