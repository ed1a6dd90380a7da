import { fail, type Result } from "../../../src/errors/result.ts";
import type { ResealedValue, ResealWanted, StaleValue } from "./secret-control.ts";
import type { SecretTables } from "./secret-tables.ts";

/**
 * One master key at a time: a value that somebody encrypted with the one before, while that was being replaced, is not stored, or it could be
 * read no more once that key is gone.
 */
export function sealingKey(tables: SecretTables): string | null {
  const [row] = tables.exist() ? tables.rows<{ key: string }>("SELECT key FROM sealing") : [];
  return row?.key ?? null;
}

/** Whether values may be stored that are encrypted with this key; the first one decides. Within a transaction. */
export function isSealing(tables: SecretTables, key: string): boolean {
  const known = sealingKey(tables);
  if (known === null) tables.rows("INSERT INTO sealing VALUES (?)", key);
  return known === null || known === key;
}

export const notSealing = <T>(): Result<T> => fail("storage_unavailable", "The master key is being replaced.", "Try again.");

/** Tables of encrypted values, each with `id`, `sealed` and `key`: those of secrets, and that of links where there is one. */
function sealedTables(tables: SecretTables): readonly string[] {
  const links = tables.rows("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'environment_link'");
  return ["secret", "run_secret", ...(links.length === 0 ? [] : ["environment_link"])];
}

export function staleValues(tables: SecretTables, { to, after, limit }: ResealWanted): StaleValue[] {
  if (!tables.exist()) return [];
  return tables.change(() => {
    if (sealingKey(tables) !== to) {
      tables.rows("DELETE FROM sealing");
      tables.rows("INSERT INTO sealing VALUES (?)", to);
    }
    const all = sealedTables(tables).map((table) => `SELECT id, sealed, key FROM ${table}`);
    // Ids of runs' secrets, and those of links, have another form than those of others.
    return tables.rows<{ id: string; sealed: string }>(
      `SELECT id, sealed FROM (${all.join(" UNION ALL ")}) WHERE key <> ? AND id > ? ORDER BY id LIMIT ?`,
      to,
      after,
      limit,
    );
  });
}

export function reseal(tables: SecretTables, to: string, values: readonly ResealedValue[]): number {
  if (!tables.exist()) return 0;
  return tables.change(() => {
    if (sealingKey(tables) !== to) return 0;
    let changed = 0;
    for (const { id, from, sealed } of values) {
      // Whoever gave it another value meanwhile has encrypted that with the new key.
      for (const table of sealedTables(tables))
        changed += tables.rows(`UPDATE ${table} SET sealed = ?, key = ? WHERE id = ? AND sealed = ? RETURNING id`, sealed, to, id, from).length;
    }
    return changed;
  });
}
