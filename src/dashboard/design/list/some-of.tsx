import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { thousands } from "../../../report/text/format.ts";

/** Of a list at first; as many again are added with each click. */
const FIRST = 100;

/** The beginning of a list of any length, and a button for more of it. `names`: what they are, many of them: `fields`. */
export function useSomeOf<Each>(all: readonly Each[], names: string): readonly [some: readonly Each[], more: ComponentChildren] {
  const [shown, setShown] = useState(FIRST);
  const left = all.length - shown;
  if (left <= 0) return [all, null];
  const more = (
    <p class="some-of">
      {thousands(shown)} of {thousands(all.length)} {names}.{" "}
      <button type="button" onClick={() => setShown(2 * shown)}>
        Show {thousands(Math.min(left, shown))} more
      </button>
    </p>
  );
  return [all.slice(0, shown), more];
}
