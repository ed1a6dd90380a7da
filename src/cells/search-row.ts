import { clip } from "./clip.ts";
import { fieldOf, textOfField } from "./row-field.ts";

/** What rows are searched for: a text in any of some fields, and a field with a value; both where both are asked for. */
export interface RowSearch {
  readonly text: string | null;
  readonly in: readonly string[];
  readonly where: { readonly field: string; readonly value: string } | null;
}

export interface RowMatch {
  /** Where it was found; null where only a value was asked for. */
  readonly field: string | null;
  /** What stands around it, on one line. */
  readonly excerpt: string;
}

export const USUAL_FIELDS = ["prompt", "completion", "answer"] as const;

/** Characters before what was found, and of the whole excerpt. */
const BEFORE = 60;
const EXCERPT = 200;

/** Texts that JSON writes in one way only: one of them that is not in the bytes of a row is not in the row. */
const LITERAL = /^[a-z0-9 _-]*$/;

/** Looks at lines of results, one after the other. Case makes no difference. */
export class RowSearcher {
  readonly #search: RowSearch;
  readonly #wanted: string | null;

  constructor(search: RowSearch) {
    this.#search = search;
    this.#wanted = search.text === null ? null : search.text.toLowerCase();
  }

  /** False for a line that cannot match, told without reading it as JSON. */
  mayMatch(line: string): boolean {
    return this.#wanted === null || !LITERAL.test(this.#wanted) || line.toLowerCase().includes(this.#wanted);
  }

  match(row: Readonly<Record<string, unknown>>): RowMatch | null {
    const { where, in: fields } = this.#search;
    if (where !== null && String(fieldOf(row, where.field) ?? "") !== where.value) return null;
    if (this.#wanted === null) return { field: null, excerpt: "" };
    for (const field of fields) {
      const text = textOfField(row, field);
      const at = text.toLowerCase().indexOf(this.#wanted);
      if (at >= 0) return { field, excerpt: excerptAt(text, at) };
    }
    return null;
  }
}

function excerptAt(text: string, at: number): string {
  const start = Math.max(0, at - BEFORE);
  const piece = clip(text.slice(start, start + EXCERPT + 1), EXCERPT)
    .replaceAll(/\s+/g, " ")
    .trim();
  return `${start > 0 ? "…" : ""}${piece}${start + EXCERPT < text.length ? "…" : ""}`;
}
