import { execute } from "../../counted-sql.ts";
import type { Ledger } from "../state/ledger.ts";
import type { ExamplePlace, ScanPage } from "./cells-protocol.ts";

/** Examples of one page at most. */
const MOST = 4_096;

/** Where the rows of done examples are, from unit `from` on, until about `bytes` are named: at least those of one. */
export function scanPage(sql: SqlStorage, ledger: Ledger, from: number, bytes: number): ScanPage | null {
  if (ledger.head() === null) return null;
  const { rollouts_per_example: rollouts } = ledger.config();
  const order = ledger.order.get();
  const found: (Omit<ExamplePlace, "missing"> & { readonly unit: number })[] = [];
  let named = 0;
  let next: number | null = null;
  for (const { unit, segment, offset, length } of ledger.placesFrom(from)) {
    if (found.length > 0 && (named + length > bytes || found.length === MOST)) {
      next = unit;
      break;
    }
    found.push({ unit, example: order.rankOf(unit), segment, offset, length });
    named += length;
  }
  const missing = missingOf(sql, found[0]?.unit ?? 0, found.at(-1)?.unit ?? -1);
  return { rollouts, places: found.map(({ unit, ...place }) => ({ ...place, missing: missing.get(unit) ?? [] })), next };
}

function missingOf(sql: SqlStorage, first: number, last: number): ReadonlyMap<number, readonly number[]> {
  const rows = execute<{ unit: number; missing: string }>(
    sql,
    "SELECT unit, missing FROM done WHERE unit >= ? AND unit <= ? AND missing IS NOT NULL",
    first,
    last,
  );
  return new Map(rows.map(({ unit, missing }) => [unit, JSON.parse(missing) as number[]]));
}
