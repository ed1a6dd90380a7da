import { execute } from "../counted-sql.ts";
import type { Offer, OfferChanges } from "./offers.ts";

/** Version of the table below; version 2 had no `wall`, version 1 was one value under the key `state`, which from some 16,000 offers on could not be stored. */
export const DISPATCHER_SCHEMA = 3;

const TABLE = `
  CREATE TABLE offers (
    run TEXT PRIMARY KEY,
    want INTEGER NOT NULL,
    weight REAL NOT NULL,
    executors INTEGER,
    seq INTEGER NOT NULL,
    changed_at INTEGER NOT NULL,
    served REAL NOT NULL,
    wall TEXT
  ) WITHOUT ROWID;
`;

const PUT = `INSERT OR REPLACE INTO offers (run, want, weight, executors, seq, changed_at, served, wall)
  SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7 FROM json_each(?)`;
const FORGET = "DELETE FROM offers WHERE run IN (SELECT value FROM json_each(?))";
/** Rows of one statement: its text stays far below the size of a row. */
const ROWS_AT_ONCE = 2_000;

const OLD_STATE = "state";
interface OldState {
  readonly version: number;
  readonly offers: Readonly<Record<string, Offer>>;
}

interface OfferRow extends Record<string, SqlStorageValue> {
  run: string;
  want: number;
  weight: number;
  executors: number | null;
  seq: number;
  changed_at: number;
  served: number;
  wall: string | null;
}

/** The offers in the storage of the Dispatcher, a row for each run. */
export class OfferStore {
  readonly #storage: DurableObjectStorage;

  /** Makes the table, with what an earlier version left. What a version left that this one does not know is dropped: all of it is soft state. */
  constructor(storage: DurableObjectStorage) {
    this.#storage = storage;
    storage.transactionSync(() => {
      execute(storage.sql, "CREATE TABLE IF NOT EXISTS schema_version (version INTEGER NOT NULL)");
      const [known] = execute<{ version: number }>(storage.sql, "SELECT version FROM schema_version");
      if (known?.version === DISPATCHER_SCHEMA) return;
      if (known?.version === 2) execute(storage.sql, "ALTER TABLE offers ADD COLUMN wall TEXT");
      else {
        execute(storage.sql, "DROP TABLE IF EXISTS offers");
        execute(storage.sql, TABLE);
      }
      execute(storage.sql, "DELETE FROM schema_version");
      execute(storage.sql, "INSERT INTO schema_version VALUES (?)", DISPATCHER_SCHEMA);
      const old = storage.kv.get<OldState>(OLD_STATE);
      if (old === undefined) return;
      if (old.version === 1) this.write({ put: Object.values(old.offers), forgotten: [] });
      storage.kv.delete(OLD_STATE);
    });
  }

  all(): Offer[] {
    const rows = execute<OfferRow>(this.#storage.sql, "SELECT * FROM offers");
    return rows.map(({ executors, wall, ...row }) => ({ ...row, ...(executors === null ? {} : { executors }), ...(wall === null ? {} : { wall }) }));
  }

  write({ put, forgotten }: OfferChanges): void {
    for (let at = 0; at < put.length; at += ROWS_AT_ONCE) {
      const rows = put.slice(at, at + ROWS_AT_ONCE);
      const values = rows.map((each) => [each.run, each.want, each.weight, each.executors ?? null, each.seq, each.changed_at, each.served, each.wall ?? null]);
      execute(this.#storage.sql, PUT, JSON.stringify(values));
    }
    for (let at = 0; at < forgotten.length; at += ROWS_AT_ONCE) execute(this.#storage.sql, FORGET, JSON.stringify(forgotten.slice(at, at + ROWS_AT_ONCE)));
  }
}
