import { useLayoutEffect, useRef } from "preact/hooks";
import { useDashboard } from "../context.ts";
import type { Shortcut } from "./shortcuts.ts";

/** Shortcuts of whatever is drawn, for as long as it is. What they do may change with each drawing; their keys do not. */
export function useShortcuts(shortcuts: readonly Shortcut[]): void {
  const { shortcuts: all } = useDashboard();
  const newest = useRef(shortcuts);
  newest.current = shortcuts;
  // Heard from when what they act on is seen, not a frame later.
  // biome-ignore lint/correctness/useExhaustiveDependencies: what they do is read when a key is pressed
  useLayoutEffect(() => all.add(shortcuts.map((each, at) => ({ ...each, run: () => newest.current[at]?.run() ?? false }))), [all]);
}
