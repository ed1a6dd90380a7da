import type { Line, Size } from "../terminal/canvas.ts";
import type { FoundRun } from "./find-runs.ts";
import type { Key } from "../terminal/keys.ts";
import type { RunInfos } from "./run-infos.ts";

/** What a key led to. */
export type Action = "stay" | "back" | "quit" | { readonly open: Page };

/** One screen of the viewer. It draws from what it has and asks for what it lacks; when that comes, `changed` of its context draws again. */
export interface Page {
  /** What the keys do, for the last line of the screen. */
  readonly help: string;
  /** True while letters are text and not keys of their own. */
  readonly typing?: boolean;
  /** At most `size.rows` lines. */
  draw(size: Size): readonly Line[];
  /** What `c` hands to the clipboard; a page without it copies nothing. */
  copy?(): string;
  /** A promise where the page has to look something up first; keys wait for each other. */
  key(key: Key): Action | Promise<Action>;
  /** Ends what works for the page. */
  close(): Promise<void>;
}

/** What pages share. */
export interface ViewContext {
  readonly runs: readonly FoundRun[];
  readonly infos: RunInfos;
  changed(): void;
  /** Something that nobody waits for; a failure ends the viewer with its error. */
  work(task: Promise<unknown>): void;
}
