import { signal } from "@preact/signals";
import { printable } from "../../../../report/text/printable.ts";
import type { Api } from "../../../api/ask.ts";
import { type Problem, UNREACHABLE } from "../../../api/problem.ts";
import type { Visibility } from "../../../live/visibility.ts";
import { LEVELS, type Level } from "../run-query.ts";

/** Between two looks for more lines. */
const POLL_MS = 1_000;
const FAILED_MS = 5_000;
/** Lines that are kept: a log of more loses its oldest here, and its file has them. */
export const KEPT_LINES = 100_000;

export interface LogLine {
  /** From 1, in the whole log. */
  readonly number: number;
  readonly level: Level;
  readonly text: string;
}

/** A line as `eval.log` has it: time, logger, level, message. */
const LINE = /^\S+ \S+ - \S+ - (DEBUG|INFO|WARNING|ERROR) - /;

/** The log of a run, page by page, and what is added while it is looked at. */
export class LogStore {
  readonly lines = signal<readonly LogLine[]>([]);
  /** Whether all that there was has been read once. */
  readonly isRead = signal(false);
  readonly problem = signal<Problem | null>(null);
  readonly #api: Api;
  readonly #visibility: Visibility;
  readonly #id: string;
  #after = "0";
  #count = 0;
  #goesOn = true;
  #isReading = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #asked = new AbortController();
  readonly #unlisten: () => void;

  constructor(api: Api, visibility: Visibility, id: string) {
    this.#api = api;
    this.#visibility = visibility;
    this.#id = id;
    this.#unlisten = visibility.listen(() => void this.read());
  }

  /** Whether the run may still say something. One that rests is read to its end, once more. */
  follow(goesOn: boolean): void {
    const more = goesOn || this.#goesOn;
    this.#goesOn = goesOn;
    if (more) void this.read();
  }

  /** Reads what there is, and comes back for more while the run goes on. */
  async read(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#isReading || this.#asked.signal.aborted || !this.#visibility.isVisible()) return;
    this.#isReading = true;
    try {
      while (await this.#page());
    } catch (error) {
      // Given up: the page is left.
      if (this.#asked.signal.aborted) return;
      if (!(error instanceof TypeError)) throw error;
      // Broken off within a page, which is read again as a whole.
      this.problem.value = UNREACHABLE;
    } finally {
      this.#isReading = false;
    }
    const wait = this.problem.value !== null ? FAILED_MS : this.#goesOn ? POLL_MS : null;
    if (wait !== null) this.#timer = setTimeout(() => void this.read(), wait);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked.abort();
    this.#unlisten();
  }

  /** Whether there is another page at once. */
  async #page(): Promise<boolean> {
    const { signal } = this.#asked;
    const opened = await this.#api.open(`/evaluations/${encodeURIComponent(this.#id)}/files/eval.log`, { query: { after: this.#after }, signal });
    this.problem.value = opened.ok ? null : opened.problem;
    if (!opened.ok) return false;
    const text = await opened.value.text();
    this.#after = opened.value.headers.get("x-edgewise-next") ?? this.#after;
    const added = text
      .split("\n")
      .slice(0, -1)
      .map((line) => this.#line(line));
    if (added.length > 0) this.lines.value = [...this.lines.value, ...added].slice(-KEPT_LINES);
    const more = opened.value.headers.get("x-edgewise-more") === "1";
    if (!more) this.isRead.value = true;
    return more;
  }

  #line(line: string): LogLine {
    this.#count += 1;
    const [, level = "INFO"] = LINE.exec(line) ?? [];
    return { number: this.#count, level: LEVELS.find((each) => each === level) ?? "INFO", text: printable(line) };
  }
}

/** Lines of a level and above in which every word stands, whatever its case. */
export function found(lines: readonly LogLine[], level: Level, search: string): readonly LogLine[] {
  const least = LEVELS.indexOf(level);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  if (least === 0 && words.length === 0) return lines;
  return lines.filter(({ level: own, text }) => LEVELS.indexOf(own) >= least && words.every((word) => text.toLowerCase().includes(word)));
}
