import { useState } from "preact/hooks";
import { thousands } from "../../../../report/text/format.ts";
import { singleLine } from "../../../../report/text/printable.ts";
import { RawText } from "../raw-text.tsx";

/** Children of one value that are shown at a time. */
const STEP = 200;
/** Characters of a text that stand in its line. */
const INLINE_CHARACTERS = 200;

/** A value of a row as a tree, opened level by level. */
export const JsonView = ({ value }: { readonly value: unknown }) => (
  <div class="json">{isBranch(value) ? <Children value={value} /> : <Leaf value={value} />}</div>
);

const isBranch = (value: unknown): value is object => typeof value === "object" && value !== null && Object.keys(value).length > 0;

function Children({ value }: { readonly value: object }) {
  const [shown, setShown] = useState(STEP);
  const keys = Object.keys(value);
  return (
    <ul class="json-children">
      {keys.slice(0, shown).map((key) => (
        <Child key={key} name={key} value={(value as Record<string, unknown>)[key]} />
      ))}
      {keys.length > shown ? (
        <li>
          <button type="button" onClick={() => setShown(shown + STEP)}>
            Show {Math.min(STEP, keys.length - shown)} more of {thousands(keys.length - shown)}
          </button>
        </li>
      ) : null}
    </ul>
  );
}

function Child({ name, value }: { readonly name: string; readonly value: unknown }) {
  const [isOpen, setOpen] = useState(false);
  const isLongText = typeof value === "string" && value.length > INLINE_CHARACTERS;
  if (!isBranch(value) && !isLongText)
    return (
      <li>
        <span class="json-key">{singleLine(name)}</span>: <Leaf value={value} />
      </li>
    );
  return (
    <li>
      <details open={isOpen} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
        <summary>
          <span class="json-key">{singleLine(name)}</span>: <span class="json-size">{sizeOf(value)}</span>
        </summary>
        {isOpen ? typeof value === "string" ? <RawText text={value} /> : <Children value={value} /> : null}
      </details>
    </li>
  );
}

const Leaf = ({ value }: { readonly value: unknown }) => (
  <span class={`json-leaf json-${value === null ? "null" : typeof value}`}>
    {typeof value === "string" && value.length > INLINE_CHARACTERS ? <RawText text={value} /> : singleLine(JSON.stringify(value) ?? "undefined")}
  </span>
);

function sizeOf(value: object | string): string {
  if (typeof value === "string") return `"${singleLine(value.slice(0, 60))}… ${thousands(value.length)} characters`;
  const count = Object.keys(value).length;
  return Array.isArray(value) ? `[${thousands(count)}]` : `{${thousands(count)}}`;
}
