import { printable, printableJson, singleLine } from "../../../report/text/printable.ts";
import type { FieldProps } from "./field-props.ts";
import { choiceText } from "./given.ts";

interface FieldControlProps extends FieldProps {
  readonly id: string;
  /** Ids of what describes it. */
  readonly described: string;
  readonly list: string | undefined;
}

/** A text that is longer has lines of its own. */
const MOST_IN_LINE = 60;
const MOST_LINES = 12;

/** What takes the value, by its shape. */
export function FieldControl({ id, described, list, label, shape, usual, required, given, problem, change }: FieldControlProps) {
  const bound = { id, "aria-describedby": described === "" ? undefined : described, "aria-invalid": problem !== null };
  const common = { ...bound, "aria-required": required };
  const text = given?.text ?? "";
  const type = (typed: string): void => change(typed === "" ? null : { text: typed, ...(given?.json === true ? { json: true as const } : {}) });
  if (shape.kind === "switch")
    return (
      <label class="is-checked">
        <input {...bound} type="checkbox" checked={text === "true"} onChange={({ currentTarget }) => change(currentTarget.checked ? { text: "true" } : null)} />
        {singleLine(label)}
      </label>
    );
  if (given?.json !== true && (shape.kind === "boolean" || shape.kind === "choice")) {
    const choices =
      shape.kind === "boolean" ? [["true", "yes"] as const, ["false", "no"] as const] : shape.choices.map((each) => [choiceText(each), shown(each)] as const);
    const isKnown = text === "" || choices.some(([value]) => value === text);
    return (
      <select {...common} value={text} onChange={({ currentTarget }) => change(currentTarget.value === "" ? null : { text: currentTarget.value })}>
        <option value="">{usual === "" ? "not given" : `default: ${singleLine(usual)}`}</option>
        {choices.map(([value, name]) => (
          <option key={value} value={value}>
            {name}
          </option>
        ))}
        {isKnown ? null : <option value={text}>{singleLine(text)}</option>}
      </select>
    );
  }
  const placeholder = usual === "" ? undefined : `default: ${singleLine(usual)}`;
  const isCode = shape.kind === "json" || given?.json === true;
  if (isCode || shape.kind === "lines" || text.includes("\n") || (shape.kind === "text" && Math.max(text.length, usual.length) > MOST_IN_LINE))
    return (
      <textarea
        {...common}
        class={isCode ? "code" : undefined}
        rows={Math.min(MOST_LINES, Math.max(2, text.split("\n").length))}
        spellcheck={false}
        value={text}
        placeholder={placeholder}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
    );
  return (
    <input
      {...common}
      type="text"
      inputMode={shape.kind === "text" ? undefined : "decimal"}
      autocomplete="off"
      spellcheck={false}
      list={list}
      value={text}
      placeholder={placeholder}
      onInput={({ currentTarget }) => type(currentTarget.value)}
    />
  );
}

const shown = (choice: unknown): string => (typeof choice === "string" ? printable(choice) : printableJson(choice));
