import { signal } from "@preact/signals";

/** A key, and what it does on the page that is shown. */
export interface Shortcut {
  /** Keys that are pressed one after another with spaces between: `j`, `ArrowDown`, `g r`. Several ways to the same: more entries. */
  readonly keys: readonly string[];
  readonly does: string;
  /** Whether the key was used; one that was not is left to the browser. */
  run(): boolean;
}

/** Between the keys of a sequence. */
const SEQUENCE_MS = 1_000;

/** What is read of a `KeyboardEvent`. */
interface Pressed {
  readonly key: string;
  readonly ctrlKey: boolean;
  readonly metaKey: boolean;
  readonly altKey: boolean;
  readonly defaultPrevented: boolean;
  /** Milliseconds. */
  readonly timeStamp: number;
  readonly target: object | null;
  preventDefault(): void;
}

/** The keys of the pages that are shown. Off while somebody types, and for keys with a modifier, which are the browser's. */
export class Shortcuts {
  /** In the order in which they came: those of the frame first. */
  readonly all = signal<readonly Shortcut[]>([]);
  #before: { readonly key: string; readonly at: number } | null = null;

  /** Adds shortcuts; the answer takes them away. */
  add(shortcuts: readonly Shortcut[]): () => void {
    this.all.value = [...this.all.value, ...shortcuts];
    return () => {
      this.all.value = this.all.value.filter((each) => !shortcuts.includes(each));
    };
  }

  press(event: Pressed): void {
    const { key, timeStamp, target } = event;
    if (event.defaultPrevented || event.ctrlKey || event.metaKey || event.altKey || takesKey(target, key)) return;
    const before = this.#before !== null && timeStamp - this.#before.at < SEQUENCE_MS ? `${this.#before.key} ${key}` : null;
    this.#before = { key, at: timeStamp };
    // What a page adds later means more there than the same key of the frame.
    const found = this.all.value.toReversed();
    const used = [before, key].some((pressed) => pressed !== null && found.some((each) => each.keys.includes(pressed) && each.run()));
    if (!used) return;
    event.preventDefault();
    // A key that ended one sequence begins no other.
    this.#before = null;
  }
}

/** Fields that characters go into; a check box takes none, and of a group of choices arrows alone lead to the next. */
function takesKey(target: object | null, key: string): boolean {
  const { tagName = "", type = "", isContentEditable = false } = (target ?? {}) as { tagName?: string; type?: string; isContentEditable?: boolean };
  if (isContentEditable || tagName === "TEXTAREA" || tagName === "SELECT") return true;
  if (tagName === "INPUT" && type === "radio") return key.startsWith("Arrow");
  return tagName === "INPUT" && !["checkbox", "button", "submit"].includes(type);
}
