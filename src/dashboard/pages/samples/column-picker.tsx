import { Dialog } from "../../design/dialog.tsx";
import type { SampleColumn } from "./sample-columns.ts";

interface ColumnPickerProps {
  readonly all: readonly SampleColumn[];
  readonly shown: readonly SampleColumn[];
  /** Null: the usual ones. */
  readonly choose: (columns: readonly string[] | null) => void;
  readonly onClose: () => void;
}

/** Which columns are shown, and in which order. */
export function ColumnPicker({ all, shown, choose, onClose }: ColumnPickerProps) {
  const keys = shown.map(({ key }) => key);
  const rest = all.filter(({ key }) => !keys.includes(key));
  const move = (key: string, by: number): void => {
    const at = keys.indexOf(key);
    choose(keys.with(at, keys[at + by] ?? key).with(at + by, key));
  };
  return (
    <Dialog title="Columns" onClose={onClose}>
      <ul class="column-picker">
        {[...shown, ...rest].map(({ key, title, kind }, at) => (
          <li key={key}>
            <label>
              <input
                type="checkbox"
                checked={at < shown.length}
                disabled={kind === "place"}
                onChange={() => choose(at < shown.length ? keys.filter((each) => each !== key) : [...keys, key])}
              />{" "}
              {title}
            </label>
            {at > 0 && at < shown.length ? (
              <span>
                <button type="button" class="quiet" disabled={at === 1} aria-label={`${title} further to the left`} onClick={() => move(key, -1)}>
                  ←
                </button>
                <button
                  type="button"
                  class="quiet"
                  disabled={at === shown.length - 1}
                  aria-label={`${title} further to the right`}
                  onClick={() => move(key, 1)}
                >
                  →
                </button>
              </span>
            ) : null}
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => choose(null)}>
        The usual columns
      </button>
    </Dialog>
  );
}
