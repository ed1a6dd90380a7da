import { useEffect, useRef, useState } from "preact/hooks";
import { useShortcuts } from "../keyboard/use-shortcuts.ts";

interface SearchFieldProps {
  /** As the address says it. */
  readonly search: string;
  readonly go: (search: string) => void;
  /** What its key does: `Search runs`. */
  readonly what: string;
  /** What is looked at. */
  readonly placeholder: string;
}

/** After the last key: so many looks fewer while somebody types. */
const TYPING_MS = 200;

/** Words that something is looked for by. */
export function SearchField({ search, go, what, placeholder }: SearchFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const [typed, setTyped] = useState(search);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  // What else is chosen while somebody types is not taken back by it.
  const newest = useRef(go);
  newest.current = go;
  // By the way back, or a button that empties the filters; not while somebody types.
  useEffect(() => {
    if (document.activeElement !== field.current) setTyped(search);
  }, [search]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const focus = (): boolean => {
    field.current?.select();
    return field.current !== null;
  };
  useShortcuts([{ keys: ["/"], does: what, run: focus }]);
  const type = (text: string): void => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => newest.current(text), TYPING_MS);
  };
  return (
    <label class="field">
      <span>Search</span>
      <input
        ref={field}
        type="search"
        value={typed}
        placeholder={placeholder}
        title="Search (/)"
        onInput={({ currentTarget }) => type(currentTarget.value)}
        onKeyDown={({ key, currentTarget }) => {
          if (key === "Escape") currentTarget.blur();
        }}
      />
    </label>
  );
}
