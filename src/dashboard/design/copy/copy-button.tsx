import { useEffect, useRef, useState } from "preact/hooks";

/** How long it is said. */
const SAID_MS = 2_000;

/** Puts texts into the clipboard. The first part says how that went, "" a little later. */
export function useCopy(): readonly [said: string, copy: (text: string) => void] {
  const [said, setSaid] = useState("");
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const say = (text: string): void => {
    setSaid(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setSaid(""), SAID_MS);
  };
  const copy = (text: string): void => {
    // Absent where the page is not of a safe origin, as a service on another machine without TLS.
    const written = (navigator.clipboard as Clipboard | undefined)?.writeText(text) ?? Promise.reject(new Error("no clipboard"));
    void written.then(
      () => say("Copied"),
      () => say("Could not be copied"),
    );
  };
  return [said, copy];
}

interface CopyButtonProps {
  readonly text: string;
  /** `Copy the id`. */
  readonly name: string;
  /** Its tooltip names the key where it has one. */
  readonly title?: string;
}

/** Copies a text, and says whether it did. */
export function CopyButton({ text, name, title }: CopyButtonProps) {
  const [said, copy] = useCopy();
  return (
    <>
      <button type="button" title={title} onClick={() => copy(text)}>
        {name}
      </button>
      <span class="said" role="status">
        {said}
      </span>
    </>
  );
}
