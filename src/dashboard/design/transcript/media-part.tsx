import { useState } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";

interface MediaPartProps {
  readonly what: string;
  /** A `data:` address of a picture; null where there is nothing to draw. */
  readonly image: string | null;
}

/** A part that is no text: named, never loaded from elsewhere; a picture that stands in the row itself is drawn when somebody asks. */
export function MediaPart({ what, image }: MediaPartProps) {
  const [isShown, setShown] = useState(false);
  return (
    <p class="media">
      {isShown && image !== null ? <img src={image} alt={singleLine(what)} /> : `[${singleLine(what)}${image === null ? ", not loaded" : ""}]`}{" "}
      {image === null || isShown ? null : (
        <button type="button" onClick={() => setShown(true)}>
          Show it
        </button>
      )}
    </p>
  );
}
