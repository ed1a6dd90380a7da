/** Looking for a pattern in the prompts and completions of all rollouts of a run, one after the other. */
import type { ReadRow } from "./results-file.ts";
import { sectionsOf } from "./row-facts.ts";

export type SearchedPart = "prompt" | "completion";

export interface Hit {
  /** Place of the row in the file, of the section in the row, of the line in the section. */
  readonly row: number;
  readonly section: number;
  readonly line: number;
  /** The line, from a little before what was found. */
  readonly text: string;
}

/** Hits of a part that are kept. */
export const MOST_HITS = 1000;
const BEFORE = 20;
const SHOWN = 400;
/** Rows between two redraws. */
const PAUSE_ROWS = 200;

/** A regular expression without regard to case; a text that says what is wrong with it. */
export function patternOf(text: string): RegExp | string {
  try {
    return new RegExp(text, "giu");
  } catch {
    // Escapes such as `\-` are only refused with the flag for whole code points.
  }
  try {
    return new RegExp(text, "gi");
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

export class RolloutSearch {
  readonly hits: Readonly<Record<SearchedPart, Hit[]>> = { prompt: [], completion: [] };
  /** Rows looked through. */
  rows = 0;
  done = false;
  private stopped = false;
  private readonly pattern: RegExp;

  constructor(pattern: RegExp) {
    this.pattern = pattern;
  }

  stop(): void {
    this.stopped = true;
  }

  /** Ends at the last row, when it is stopped, or when both parts have all the hits that are kept. */
  async run(rows: AsyncIterable<ReadRow>, changed: () => void): Promise<void> {
    for await (const read of rows) {
      if (this.stopped) return;
      if ("row" in read) this.look(read.row);
      this.rows += 1;
      if (this.full("prompt") && this.full("completion")) break;
      if (this.rows % PAUSE_ROWS === 0) {
        changed();
        await new Promise((resolve) => setImmediate(resolve));
      }
    }
    this.done = true;
    changed();
  }

  full(part: SearchedPart): boolean {
    return this.hits[part].length >= MOST_HITS;
  }

  private look(row: Readonly<Record<string, unknown>>): void {
    for (const [section, { part, lines }] of sectionsOf(row).entries()) {
      if (part === "details") continue;
      for (const [line, text] of lines.entries()) {
        if (this.full(part)) break;
        const at = text.search(this.pattern);
        if (at >= 0)
          this.hits[part].push({ row: this.rows, section, line, text: at > BEFORE ? `…${text.slice(at - BEFORE, at + SHOWN)}` : text.slice(0, SHOWN) });
      }
    }
  }
}
