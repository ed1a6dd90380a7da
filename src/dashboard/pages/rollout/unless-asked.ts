import type { Shortcut } from "../../keyboard/shortcuts.ts";

/** Keys of a page, for as long as no dialog stands before it: that has its own, and Escape closes it. */
export const unlessAsked = (shortcuts: readonly Shortcut[]): readonly Shortcut[] =>
  shortcuts.map((each) => ({ ...each, run: () => document.querySelector("dialog[open]") === null && each.run() }));
