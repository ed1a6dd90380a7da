import { useEffect } from "preact/hooks";
import { useShortcuts } from "../keyboard/use-shortcuts.ts";

/** What opens the palette. The one key with a modifier: it works where somebody types too, so the shortcuts, which do not, only tell of it. */
export function usePalette(open: () => void): void {
  useEffect(() => {
    const press = (event: KeyboardEvent): void => {
      if (event.key.toLowerCase() !== "k" || event.altKey || event.shiftKey || event.ctrlKey === event.metaKey) return;
      event.preventDefault();
      open();
    };
    document.addEventListener("keydown", press);
    return () => document.removeEventListener("keydown", press);
  }, [open]);
  useShortcuts([{ keys: ["Ctrl K", "⌘ K"], does: "Go to a page or a run", run: () => false }]);
}
