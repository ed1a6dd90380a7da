import type { RefObject } from "preact";
import { useCopy } from "../../design/copy/copy-button.tsx";
import type { TranscriptHandle } from "../../design/transcript/transcript-props.ts";
import type { TranscriptRow } from "../../design/transcript/transcript-rows.ts";
import { useShortcuts } from "../../keyboard/use-shortcuts.ts";
import { unlessAsked } from "./unless-asked.ts";

interface MessageKeys {
  readonly handle: RefObject<TranscriptHandle | null>;
  readonly rows: readonly TranscriptRow[];
  /** Whole, for being copied. */
  readonly linkOf: (number: number) => string;
  /** To the next or previous message that has what is looked for; false where nothing is. */
  readonly step: (by: 1 | -1) => boolean;
  readonly setFocused: (row: number) => void;
  readonly isFinding: boolean;
  readonly setFinds: (finds: boolean) => void;
  readonly closeFind: () => void;
}

/** The keys of a transcript. The first part of the answer says how copying went, the second opens the search. */
export function useMessageKeys({ handle, rows, linkOf, step, setFocused, isFinding, setFinds, closeFind }: MessageKeys): readonly [string, () => void] {
  const [said, copy] = useCopy();
  const at = (): number => handle.current?.at() ?? -1;
  const go = (index: number): boolean => handle.current?.go(Math.max(0, Math.min(rows.length - 1, index))) ?? false;
  const call = (by: 1 | -1): boolean => {
    for (let index = at() + by; index >= 0 && index < rows.length; index += by) if (rows[index]?.kind === "call") return go(index);
    return false;
  };
  const openFind = (): boolean => {
    setFinds(true);
    return true;
  };
  const copyLink = (): boolean => {
    const row = rows[Math.max(0, at())];
    if (row === undefined) return false;
    copy(linkOf(row.kind === "message" ? row.number : (row.result ?? row.number)));
    return true;
  };
  const focus = (): boolean => {
    if (rows.length === 0) return false;
    setFocused(Math.max(0, at()));
    return true;
  };
  const toggle = (): boolean => {
    // A button or link that has the focus is what Enter is for.
    const isOnRow = document.activeElement?.hasAttribute("data-row") ?? false;
    if (isOnRow) handle.current?.toggle(at());
    return isOnRow;
  };
  const close = (): boolean => {
    if (isFinding) closeFind();
    return isFinding;
  };
  useShortcuts(
    unlessAsked([
      { keys: ["j", "ArrowDown"], does: "Next message", run: () => go(at() + 1) },
      { keys: ["k", "ArrowUp"], does: "Previous message", run: () => go(at() - 1) },
      { keys: ["g g", "Home"], does: "First message", run: () => go(0) },
      { keys: ["G", "End"], does: "Last message", run: () => go(rows.length - 1) },
      { keys: ["Enter"], does: "Fold or unfold", run: toggle },
      { keys: ["n"], does: "Next that was found; else the next call of a tool", run: () => step(1) || call(1) },
      { keys: ["N"], does: "Previous that was found", run: () => step(-1) },
      { keys: ["p"], does: "Previous call of a tool", run: () => call(-1) },
      { keys: ["f"], does: "Show one message alone", run: focus },
      { keys: ["c"], does: "Copy a link to the message", run: copyLink },
      { keys: ["/"], does: "Find in this rollout", run: openFind },
      { keys: ["Escape"], does: "Close the search", run: close },
    ]),
  );
  return [said, () => void openFind()];
}
