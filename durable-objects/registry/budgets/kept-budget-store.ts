import { canonicalJson } from "../../../src/config/canonical-json.ts";
import type { KeptLimits } from "../../../src/budgets/kept-limits.ts";
import { EdgewiseError, fail, ok, type Result } from "../../../src/errors/result.ts";
import { MAX_KEPT_BUDGETS } from "../../../src/limits.ts";
import { LateTables } from "../../late-tables.ts";
import type { KeptBudget, KeptBudgetControl } from "./kept-budget-control.ts";

/** Version of `limits`: a row of another one is refused by name. */
export const KEPT_BUDGET_VERSION = 1;

/** No change of the Registry's version: code that does not know them begins runs without them. */
const BUDGETS = `
  CREATE TABLE IF NOT EXISTS kept_budget (
    name TEXT PRIMARY KEY,
    version INTEGER NOT NULL,
    limits TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    updated_by TEXT NOT NULL
  ) WITHOUT ROWID;
`;

interface Row extends Record<string, SqlStorageValue> {
  readonly name: string;
  readonly version: number;
  readonly limits: string;
  readonly created_at: number;
  readonly updated_at: number;
  readonly updated_by: string;
}

/** What a team may spend, and with which of its keys. */
export class KeptBudgetStore {
  readonly #tables: LateTables;
  constructor(storage: DurableObjectStorage) {
    this.#tables = new LateTables(storage, BUDGETS);
  }

  all(): KeptBudget[] {
    return this.#tables.rows<Row>("SELECT * FROM kept_budget ORDER BY name").map(keptOf);
  }

  put({ name, limits, user }: Parameters<KeptBudgetControl["putKeptBudget"]>[0], now: number): Result<KeptBudget> {
    const [row] = this.#tables.rows<Row>("SELECT * FROM kept_budget WHERE name = ?", name);
    const before = row === undefined ? null : keptOf(row);
    if (before !== null && canonicalJson(before.limits) === canonicalJson(limits)) return ok(before);
    const [{ there } = { there: 0 }] = this.#tables.rows<{ there: number }>("SELECT count(*) AS there FROM kept_budget");
    if (before === null && there >= MAX_KEPT_BUDGETS)
      return fail("invalid_request", `a team keeps at most ${MAX_KEPT_BUDGETS} budgets`, "Clear those of keys that are not used any more.");
    const created_at = before?.created_at ?? now;
    this.#tables.rows(
      "INSERT OR REPLACE INTO kept_budget VALUES (?, ?, ?, ?, ?, ?)",
      ...[name, KEPT_BUDGET_VERSION, JSON.stringify(limits), created_at, now, user],
    );
    return ok({ name, limits, created_at, updated_at: now, updated_by: user });
  }

  /** Whichever version stored it. */
  remove(name: string): boolean {
    return this.#tables.rows("DELETE FROM kept_budget WHERE name = ? RETURNING name", name).length > 0;
  }
}

function keptOf({ name, version, limits, created_at, updated_at, updated_by }: Row): KeptBudget {
  if (version !== KEPT_BUDGET_VERSION) {
    throw new EdgewiseError("stored_version_unknown", `The budget ${name} was stored by another version of edgewise (${version}).`, {
      hint: "Deploy that version again, or a newer one; or clear the budget and set it again.",
    });
  }
  return { name, limits: JSON.parse(limits) as KeptLimits, created_at, updated_at, updated_by };
}
