// biome-ignore-all lint/a11y/useFocusableInteractive lint/a11y/useKeyWithClickEvents: the field has the focus and the keys
import { useEffect, useId, useRef, useState } from "preact/hooks";
import { singleLine } from "../../../report/text/printable.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { type CompletionNames, complete } from "../../samples/filter/complete.ts";
import type { FilterProblem } from "../../samples/filter/filter.ts";
import { FilterFault } from "./filter-fault.tsx";

interface FilterFieldProps {
  /** As the address says it. */
  readonly filter: string;
  readonly names: CompletionNames;
  readonly problem: FilterProblem | null;
  /** Somebody is about to type. */
  readonly look: () => void;
  readonly go: (filter: string) => void;
  /** Where the keys go behind it. */
  readonly leave: () => void;
}

/** Types would have a `<datalist>` with it, which knows nothing of where the cursor is. */
const comboboxOf = (expanded: boolean): object => ({ role: "combobox", "aria-expanded": expanded });
/** After the last key. */
const TYPING_MS = 250;

/** Which rollouts are listed, in the filter language, with what may stand at the cursor below it. */
export function FilterField({ filter, names, problem, look, go, leave }: FilterFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const id = useId();
  const [typed, setTyped] = useState(filter);
  /** Null: nothing is offered. */
  const [cursor, setCursor] = useState<number | null>(null);
  const [chosen, setChosen] = useState(-1);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const newest = useRef(go);
  newest.current = go;
  // By the way back, or a button; not while somebody types.
  useEffect(() => {
    if (document.activeElement !== field.current) setTyped(filter);
  }, [filter]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useShortcuts([
    {
      keys: ["/"],
      does: "Filter rollouts",
      run: () => {
        field.current?.focus();
        return field.current !== null;
      },
    },
  ]);
  const completion = cursor === null ? null : complete(typed, cursor, names);
  const options = completion?.options ?? [];

  const say = (text: string, at: number): void => {
    setTyped(text);
    setCursor(at);
    setChosen(-1);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => newest.current(text), TYPING_MS);
  };
  const take = (index: number): void => {
    const option = options[index];
    if (completion === null || option === undefined) return;
    const text = `${typed.slice(0, completion.start)}${option.text} ${typed.slice(completion.end).trimStart()}`;
    const at = completion.start + option.text.length + 1;
    // At once: the next key is typed behind it.
    if (field.current !== null) field.current.value = text;
    field.current?.setSelectionRange(at, at);
    say(text, at);
  };
  const press = (event: KeyboardEvent): void => {
    const { key } = event;
    const moves = key === "ArrowDown" ? 1 : key === "ArrowUp" ? -1 : 0;
    if (moves !== 0 && options.length > 0) setChosen((chosen + moves + options.length + (chosen < 0 && moves < 0 ? 1 : 0)) % options.length);
    else if ((key === "Tab" && !event.shiftKey && chosen >= 0) || (key === "Enter" && chosen >= 0)) take(chosen);
    else if (key === "Enter") {
      clearTimeout(timer.current);
      setCursor(null);
      newest.current(typed);
      leave();
    } else if (key === "Escape" && options.length > 0 && cursor !== null) setCursor(null);
    else if (key === "Escape") leave();
    else return;
    event.preventDefault();
  };
  return (
    <div class="field filter-field">
      <label for={`${id}-field`}>Filter</label>
      <input
        ref={field}
        id={`${id}-field`}
        {...comboboxOf(options.length > 0)}
        type="search"
        autocomplete="off"
        spellcheck={false}
        value={typed}
        placeholder="reward < 0.5 and error = none"
        title="Filter (/)"
        aria-autocomplete="list"
        aria-controls={`${id}-options`}
        aria-activedescendant={chosen >= 0 && options.length > 0 ? `${id}-${chosen}` : undefined}
        aria-invalid={problem !== null}
        aria-describedby={problem === null ? undefined : `${id}-fault`}
        onInput={({ currentTarget: { value, selectionStart } }) => say(value, selectionStart ?? value.length)}
        onFocus={({ currentTarget: { value, selectionStart } }) => {
          look();
          setCursor(selectionStart ?? value.length);
        }}
        onClick={({ currentTarget: { value, selectionStart } }) => setCursor(selectionStart ?? value.length)}
        onBlur={() => setCursor(null)}
        onKeyDown={press}
      />
      <div id={`${id}-options`} role="listbox" aria-label="What may stand here" class="filter-options" hidden={options.length === 0}>
        {options.map(({ text, about }, index) => (
          <div
            key={text}
            id={`${id}-${index}`}
            role="option"
            aria-selected={index === chosen}
            // Before the field loses the focus.
            onMouseDown={(event) => {
              event.preventDefault();
              take(index);
            }}
          >
            <code>{singleLine(text)}</code> <small>{about}</small>
          </div>
        ))}
      </div>
      {problem === null ? null : <FilterFault id={`${id}-fault`} filter={filter} problem={problem} />}
    </div>
  );
}
