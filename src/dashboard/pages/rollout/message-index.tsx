import { singleLine } from "../../../report/text/printable.ts";
import type { MessageOutline } from "../../../cells/outline.ts";
import type { TranscriptRow } from "../../design/transcript/transcript-rows.ts";
import { rowKey } from "../../design/transcript/transcript-rows.ts";
import { useVirtualRows } from "../../design/transcript/virtual-rows.ts";
import { IndexRow } from "./index-row.tsx";

interface MessageIndexProps {
  readonly rows: readonly TranscriptRow[];
  readonly outlines: readonly MessageOutline[];
  /** The row that the keys are at. */
  readonly at: number;
  readonly go: (index: number) => void;
}

/** Pixels. */
const HEIGHT = 28;
/** Characters of a line. */
const BEGINNING = 60;

/** All messages in a line each, to go to. */
export function MessageIndex({ rows, outlines, at, go }: MessageIndexProps) {
  const virtual = useVirtualRows({
    count: rows.length,
    estimate: () => HEIGHT,
    scrolls: "own",
    held: -1,
  });
  return (
    <nav class="message-index" ref={virtual.box} aria-label="Messages">
      <div class="index-rows" ref={virtual.list}>
        {virtual.items.map(({ index, top }) => {
          const row = rows[index];
          return row === undefined ? null : (
            <IndexRow key={rowKey(row)} top={top} isCurrent={index === at} go={() => go(index)} isCall={row.kind === "call"} text={textOf(row, outlines)} />
          );
        })}
      </div>
    </nav>
  );
}

function textOf(row: TranscriptRow, outlines: readonly MessageOutline[]): string {
  if (row.kind === "call") return `→ ${singleLine(row.name)}`;
  const outline = outlines[row.number];
  return outline === undefined ? "" : `${singleLine(outline.role)}: ${singleLine(outline.text.slice(0, BEGINNING))}`;
}
