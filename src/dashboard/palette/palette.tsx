import "./palette.css";
import { useEffect, useId, useMemo, useState } from "preact/hooks";
import { useDashboard } from "../context.ts";
import { Dialog } from "../design/dialog.tsx";
import { type NamedPlace, nothingText, PaletteStore, type Way } from "./palette-store.ts";

interface PaletteProps {
  readonly places: readonly NamedPlace[];
  readonly onClose: () => void;
  /** Leads to a path of `links.ts`. */
  readonly go: (path: string) => void;
}

/** Goes to a page, or to a run, by what it is called. */
export function Palette({ places, onClose, go }: PaletteProps) {
  const { api } = useDashboard();
  const store = useMemo(() => new PaletteStore(api, places), [api, places]);
  const [at, setAt] = useState(0);
  const [typed, setTyped] = useState("");
  const id = useId();
  useEffect(() => {
    store.look("");
    return () => store.close();
  }, [store]);
  const ways = store.ways.value;
  const chosen = Math.min(at, ways.length - 1);
  const take = (way: Way | undefined): void => {
    if (way === undefined) return;
    onClose();
    go(way.path);
  };
  const press = (event: KeyboardEvent): void => {
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step !== 0 && ways.length > 0) setAt((chosen + step + ways.length) % ways.length);
    else if (event.key === "Enter") take(ways[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <input
        type="search"
        // biome-ignore lint/a11y/noRedundantRoles: without a list of the browser's own it is no combobox by itself
        role="combobox"
        list={undefined}
        aria-label="A page, or a run by id, name, environment or model"
        aria-expanded="true"
        aria-controls={id}
        aria-activedescendant={chosen < 0 ? undefined : `${id}-${chosen}`}
        placeholder="A page, or a run by id, name, environment or model"
        class="palette-field"
        autofocus
        onInput={({ currentTarget }) => {
          setAt(0);
          setTyped(currentTarget.value);
          store.look(currentTarget.value);
        }}
        onKeyDown={press}
      />
      <div role="listbox" id={id} aria-label="Ways" class="palette-ways">
        {ways.map((way, index) => (
          // biome-ignore lint/a11y/useKeyWithClickEvents: keys are the field's, which says by aria-activedescendant where one is
          <div
            key={way.path}
            id={`${id}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === chosen}
            onClick={() => take(way)}
            onMouseMove={() => setAt(index)}
          >
            <span class="palette-name">{way.name}</span>
            <small>{way.about}</small>
          </div>
        ))}
      </div>
      <p role="status">{store.problem.value ?? (ways.length > 0 ? "" : store.isLooking.value ? "Looking for runs…" : nothingText(typed))}</p>
    </Dialog>
  );
}
