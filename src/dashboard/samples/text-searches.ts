import { signal } from "@preact/signals";
import { searchKey, type SearchTerm } from "./filter/check.ts";
import type { Findings } from "./filter/predicate.ts";

/** Where texts of a filter were found: the service reads the rows, and says so as it finds them. */
export class TextSearches {
  /** Another number each time something was found. */
  readonly version = signal(0);
  readonly #findings = new Map<string, Findings>();

  /** What was found of these so far. */
  look(terms: readonly SearchTerm[]): ReadonlyMap<string, Findings> {
    for (const term of terms) if (!this.#findings.has(searchKey(term))) this.#findings.set(searchKey(term), { complete: false, has: () => false });
    return this.#findings;
  }

  close(): void {
    this.#findings.clear();
  }
}
