import { useState } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";
import { Markdown } from "../text/markdown/markdown.tsx";
import { RawText } from "../text/raw-text.tsx";

/** What a model thought before it answered, folded until somebody asks. */
export function Reasoning({ text, raw }: { readonly text: string; readonly raw: boolean }) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details class="reasoning" open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>Reasoning, {thousands(text.length)} characters</summary>
      {isOpen ? raw ? <RawText text={text} /> : <Markdown text={text} /> : null}
    </details>
  );
}
