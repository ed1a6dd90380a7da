import "./field.css";
import { useId } from "preact/hooks";
import { printable, singleLine } from "../../../report/text/printable.ts";
import { FieldControl } from "./field-control.tsx";
import type { FieldProps } from "./field-props.ts";
import type { FieldShape } from "./field-shape.ts";
import { type Given, givenOf, readGiven } from "./given.ts";

/** A field of a form with its label, its help and what is wrong with it, all of them bound to it. */
export function Field(props: FieldProps) {
  const { label, shape, help, required, given, problem, was, suggestions = [], takesJson, change, onFocus } = props;
  const id = useId();
  const described = [help === "" ? "" : `${id}-help`, was === null ? "" : `${id}-was`, problem === null ? "" : `${id}-problem`].filter(Boolean).join(" ");
  const isJson = given?.json === true;
  const name = singleLine(label);
  return (
    <div class={`form-field${was === null ? "" : " is-changed"}`} onFocusCapture={onFocus}>
      <div class="field-head">
        {shape.kind === "switch" ? null : (
          <label for={id}>
            {name}
            {required ? " (required)" : ""}
          </label>
        )}
        {shape.kind === "switch" || shape.kind === "json" || !(takesJson || isJson) ? null : (
          <button
            type="button"
            class="quiet"
            aria-pressed={isJson}
            aria-label={`Write ${name} as JSON`}
            title="Write it as JSON"
            onClick={() => change(isJson ? plain(shape, given) : asJson(shape, given))}
          >
            {"{ }"}
          </button>
        )}
        {given === null || shape.kind === "switch" ? null : (
          <button type="button" class="quiet" aria-label={`Take ${name} back`} title="As if nothing were given" onClick={() => change(null)}>
            ✕
          </button>
        )}
      </div>
      <FieldControl {...props} id={id} described={described} list={suggestions.length === 0 ? undefined : `${id}-list`} />
      {suggestions.length === 0 ? null : (
        <datalist id={`${id}-list`}>
          {suggestions.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
      {problem === null ? null : (
        <p class="field-problem" id={`${id}-problem`}>
          ✕ {printable(problem)}
        </p>
      )}
      {was === null ? null : <small id={`${id}-was`}>Changed: it was {singleLine(was)}</small>}
      {help === "" ? null : <small id={`${id}-help`}>{printable(help)}</small>}
    </div>
  );
}

/** The same value as JSON; what has none as it is written. */
function asJson(shape: FieldShape, given: Given | null): Given {
  const read = given === null ? null : readGiven(shape, given);
  if (read?.ok === true) return { text: JSON.stringify(read.value, null, 2), json: true };
  return { text: given?.text ?? "", json: true };
}

/** Back from JSON; what the shape cannot say stays a text to be mended. */
function plain(shape: FieldShape, given: Given): Given | null {
  const read = readGiven(shape, given);
  if (!read.ok) return given.text.trim() === "" ? null : { text: given.text };
  const { json: _, ...text } = givenOf(shape, read.value);
  return text;
}
