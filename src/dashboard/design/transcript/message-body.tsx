import { Markdown } from "../text/markdown/markdown.tsx";
import { JsonView } from "../text/json/json-view.tsx";
import { RawText } from "../text/raw-text.tsx";
import type { ShownMessage, ShownPart } from "./content.ts";
import { withoutThinking } from "./folding.ts";
import { MediaPart } from "./media-part.tsx";
import { Reasoning } from "./reasoning.tsx";

interface MessageBodyProps {
  readonly message: ShownMessage;
  readonly raw: boolean;
}

/** What a message says: reasoning folded before it, its parts in their order, and what else it has. Calls stand below it, with their results. */
export function MessageBody({ message: { role, parts, reasoning, others, calls }, raw }: MessageBodyProps) {
  const first = parts[0];
  const split = !raw && role === "assistant" && reasoning === "" && first?.kind === "text" ? withoutThinking(first.text) : null;
  const shown: readonly ShownPart[] = split === null || split.thinking === "" ? parts : [{ at: 0, kind: "text", text: split.answer }, ...parts.slice(1)];
  const thinking = split === null || split.thinking === "" ? reasoning : split.thinking;
  return (
    <>
      {thinking === "" ? null : <Reasoning text={thinking} raw={raw} />}
      {shown.map((part) => (
        <Part key={part.at} part={part} raw={raw || role === "tool"} />
      ))}
      {shown.length === 0 && calls.length === 0 && thinking === "" ? <p class="text-note">Empty.</p> : null}
      {Object.keys(others).length === 0 ? null : (
        <details class="others">
          <summary>Other fields</summary>
          <JsonView value={others} />
        </details>
      )}
    </>
  );
}

function Part({ part, raw }: { readonly part: ShownPart; readonly raw: boolean }) {
  switch (part.kind) {
    case "text":
      return raw ? <RawText text={part.text} /> : <Markdown text={part.text} />;
    case "media":
      return <MediaPart what={part.what} image={part.image} />;
    case "other":
      return <JsonView value={part.value} />;
  }
}
