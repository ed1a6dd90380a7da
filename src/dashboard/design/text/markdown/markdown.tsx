import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { printable } from "../../../../report/text/printable.ts";
import { OpenOutside } from "../outside-link.tsx";
import { RawText } from "../raw-text.tsx";
import { drawnMarkdown } from "./draw-markdown.ts";
import { type Rendered, renderedMarkdown } from "./rendered.ts";

/** Characters of a text that is rendered unasked, and of one that is rendered at all. */
const UNASKED_CHARACTERS = 200_000;
const MOST_CHARACTERS = 2_000_000;

/** A text as its Markdown means it: cleaned, without images, its links opened only after a question. What cannot be rendered in time is shown raw, and says so. */
export function Markdown({ text }: { readonly text: string }) {
  const [isAsked, setAsked] = useState(false);
  if (text.length > (isAsked ? MOST_CHARACTERS : UNASKED_CHARACTERS)) return <TooLong text={text} ask={() => setAsked(true)} />;
  return <Rendering text={text} />;
}

const TooLong = ({ text, ask }: { readonly text: string; readonly ask: () => void }) => (
  <>
    <p class="text-note">
      {text.length > MOST_CHARACTERS ? "Too long to be rendered: as it is written." : "Long: as it is written."}{" "}
      {text.length > MOST_CHARACTERS ? null : (
        <button type="button" onClick={ask}>
          Render it anyway
        </button>
      )}
    </p>
    <RawText text={text} />
  </>
);

function Rendering({ text }: { readonly text: string }) {
  const place = useRef<HTMLDivElement>(null);
  const safe = useMemo(() => printable(text), [text]);
  // Undefined: not yet known. Texts are few enough to be the key of what was made of them.
  const [made, setMade] = useState<{ readonly of: string; readonly rendered: Rendered | null } | null>(null);
  const [address, setAddress] = useState<string | null>(null);
  const rendered = made?.of === safe ? made.rendered : undefined;
  useEffect(() => {
    let isShown = true;
    void renderedMarkdown(safe).then((answer) => {
      if (isShown) setMade({ of: safe, rendered: answer });
    });
    return () => {
      isShown = false;
    };
  }, [safe]);
  useLayoutEffect(() => {
    if (rendered !== undefined && rendered !== null) place.current?.replaceChildren(drawnMarkdown(rendered, setAddress));
  }, [rendered]);
  if (rendered === null)
    return (
      <>
        <p class="text-note">Could not be rendered: as it is written.</p>
        <RawText text={text} />
      </>
    );
  return (
    <>
      {rendered === undefined ? <RawText text={text} /> : <div class="markdown" dir="auto" ref={place} />}
      {address === null ? null : <OpenOutside address={address} onClose={() => setAddress(null)} />}
    </>
  );
}
