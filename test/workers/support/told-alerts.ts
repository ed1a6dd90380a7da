import { vi } from "vitest";
import { AlertBook } from "../../../durable-objects/alert-book/alert-book.ts";
import { fail } from "../../../src/errors/result.ts";
import type { Occurrence } from "../../../src/alerts/occurrence.ts";

/** The alert book of every team, as it is told: keeps what comes, and takes nothing while it is `away`. Undone with all mocks. */
export class ToldAlerts {
  readonly occurrences: (Occurrence & { readonly team: string })[] = [];
  away = false;

  constructor() {
    vi.spyOn(AlertBook.prototype, "take").mockImplementation(async ({ team, occurrences }) => {
      if (this.away) return fail("storage_unavailable", "no alerts now");
      this.occurrences.push(...occurrences.map((occurrence) => ({ ...occurrence, team })));
      return { ok: true, value: { asked: true } };
    });
  }

  get types(): readonly string[] {
    return this.occurrences.map(({ type }) => type);
  }
}
