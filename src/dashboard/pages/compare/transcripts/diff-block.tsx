import { useEffect, useState } from "preact/hooks";
import { thousands } from "../../../../report/text/format.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import { FIRST_CHARACTERS, STEP_CHARACTERS } from "../../../design/text/text-steps.ts";
import { clip } from "../../../../cells/clip.ts";
import { differenceBeside } from "./difference-beside.ts";
import type { DiffPart } from "./diff-texts.ts";
import { MarkedText } from "./marked-text.tsx";

interface DiffBlockProps {
  readonly name: string;
  /** Null where that run has no such text. */
  readonly left: string | null;
  readonly right: string | null;
}

/** One text of both runs. Their beginnings at first; what differs is marked as soon as it is known. */
export function DiffBlock({ name, left, right }: DiffBlockProps) {
  const [steps, setSteps] = useState(0);
  const most = FIRST_CHARACTERS + steps * STEP_CHARACTERS;
  const [one, two] = [clip(left ?? "", most), clip(right ?? "", most)];
  // Undefined: not known yet; null: too much differs.
  const [parts, setParts] = useState<readonly DiffPart[] | null | undefined>();
  useEffect(() => {
    let isOver = false;
    if (left === null || right === null) setParts([{ kind: left === null ? "right" : "left", text: left === null ? two : one }]);
    else
      void differenceBeside(one, two).then((found) => {
        if (!isOver) setParts(found);
      });
    return () => {
      isOver = true;
    };
  }, [one, two, left, right]);
  const rest = Math.max(left?.length ?? 0, right?.length ?? 0) - most;
  return (
    <div class="diff-block">
      {name === "" ? null : <small>{singleLine(name).slice(0, 200)}</small>}
      {parts === null ? <p class="quiet-text">Too much differs to be marked.</p> : null}
      <div class="sides" aria-busy={parts === undefined}>
        {(
          [
            ["Baseline", "left", left, one],
            ["Candidate", "right", right, two],
          ] as const
        ).map(([title, side, whole, text]) => (
          <section key={side} class="side" aria-label={title}>
            {whole === null ? (
              <p class="quiet-text">not there</p>
            ) : whole === "" ? (
              <p class="quiet-text">empty</p>
            ) : (
              <MarkedText parts={parts ?? [{ kind: "same", text }]} side={side} isWhole={parts == null} />
            )}
          </section>
        ))}
      </div>
      {rest > 0 ? (
        <p>
          <button type="button" onClick={() => setSteps(steps + 1)}>
            Show {thousands(Math.min(rest, STEP_CHARACTERS))} more of {thousands(rest)} characters
          </button>
        </p>
      ) : null}
    </div>
  );
}
