import type { RefObject } from "preact";
import { useShortcuts } from "./use-shortcuts.ts";

/** Keys of a list whose rows have a link each: the focus is where the keys are, so Enter opens. `what`: a row, in a word. The answer says which row has the focus, -1 = none. */
export function useRowKeys(list: RefObject<HTMLElement | null>, what: string): () => number {
  const links = (): readonly HTMLElement[] => [...(list.current?.querySelectorAll<HTMLElement>("a.row-link") ?? [])];
  const at = (): number => links().findIndex((each) => (each.closest("tr") ?? each).contains(document.activeElement));
  const move = (place: number): boolean => {
    const all = links();
    const link = all[Math.max(0, Math.min(all.length - 1, place))];
    link?.focus();
    link?.scrollIntoView({ block: "nearest" });
    return link !== undefined;
  };
  useShortcuts([
    { keys: ["j", "ArrowDown"], does: `Next ${what}`, run: () => move(at() + 1) },
    { keys: ["k", "ArrowUp"], does: `Previous ${what}`, run: () => move(Math.max(0, at() - 1)) },
    { keys: ["g g", "Home"], does: `First ${what}`, run: () => move(0) },
    { keys: ["G", "End"], does: `Last ${what}`, run: () => move(links().length - 1) },
  ]);
  return at;
}
