import "./text.css";
import { useState } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import { markedParts } from "./marks.ts";
import { shownPieces, STEP_CHARACTERS } from "./text-steps.ts";

/** A text exactly as it is, its beginning first: what is unseen in it is named, and nothing in it acts. */
export function RawText({ text }: { readonly text: string }) {
  const [steps, setSteps] = useState(0);
  const pieces = shownPieces(text, steps);
  const left = text.length - pieces.reduce((sum, piece) => sum + piece.text.length, 0);
  return (
    <div class="raw-text">
      {pieces.map((piece) => (
        <RawPiece key={piece.at} text={piece.text} />
      ))}
      {left > 0 ? (
        <p class="more-text">
          <button type="button" onClick={() => setSteps(steps + 1)}>
            Show {thousands(Math.min(left, STEP_CHARACTERS))} more of {thousands(left)} characters
          </button>
        </p>
      ) : null}
    </div>
  );
}

const RawPiece = ({ text }: { readonly text: string }) => (
  <pre class="raw-piece" dir="ltr">
    {markedParts(text).map((part) =>
      "text" in part ? (
        part.text
      ) : (
        <span key={part.at} class="mark">
          {part.name}
          {part.count > 1 ? `×${thousands(part.count)}` : ""}
        </span>
      ),
    )}
  </pre>
);
