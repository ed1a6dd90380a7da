import type { PushedFacts } from "../../../src/pushed/pushed-facts.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { execute } from "../../counted-sql.ts";
import type { RowCursor } from "./pushed-head.ts";
import type { IndexedSample } from "./pushed-protocol.ts";
import type { Added, PushedStore, StoredBatch, StoredRequest, StoredSample } from "./pushed-store.ts";

/**
 * Tables of a pushed evaluation, made with the Run; no other run has them. A sample's place is its key, so that rows come in their order from a scan of a
 * part, whatever came first.
 */
const TABLES = `
CREATE TABLE IF NOT EXISTS pushed_batch (batch INTEGER PRIMARY KEY, digest TEXT NOT NULL UNIQUE, object TEXT NOT NULL, bytes INTEGER NOT NULL,
  samples INTEGER NOT NULL, through INTEGER NOT NULL, is_read INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS pushed_sample (rank INTEGER NOT NULL, number REAL NOT NULL, text TEXT NOT NULL, attempt INTEGER NOT NULL, batch INTEGER NOT NULL,
  position INTEGER NOT NULL, start INTEGER NOT NULL, length INTEGER NOT NULL, PRIMARY KEY (rank, number, text, attempt, batch, position)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pushed_example (rank INTEGER NOT NULL, number REAL NOT NULL, text TEXT NOT NULL, samples INTEGER NOT NULL,
  PRIMARY KEY (rank, number, text)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS pushed_id (id TEXT PRIMARY KEY, digest TEXT NOT NULL, batch INTEGER NOT NULL, position INTEGER NOT NULL) WITHOUT ROWID;
`;

type SampleRecord = Record<"rank" | "number" | "attempt" | "batch" | "position" | "start" | "length", number> & { text: string; object: string };

export class PushedTable implements PushedStore {
  readonly #sql: SqlStorage;
  readonly #record: { get(): string | null; put(text: string): void };

  constructor(sql: SqlStorage, record: { get(): string | null; put(text: string): void }) {
    this.#sql = sql;
    this.#record = record;
  }

  create(facts: PushedFacts): void {
    this.#sql.exec(TABLES);
    this.putFacts(facts);
  }

  facts(): PushedFacts {
    const facts = JSON.parse(this.#record.get() ?? "null") as PushedFacts | null;
    if (facts?.version !== 1)
      throw new EdgewiseError("stored_version_unknown", `This evaluation was pushed with facts of version ${facts?.version}; this version knows 1.`);
    return facts;
  }
  putFacts(facts: PushedFacts): void {
    this.#record.put(JSON.stringify(facts));
  }

  batchWith(digest: string): StoredBatch | null {
    return this.#batches("WHERE digest = ?", digest)[0] ?? null;
  }
  nextUnread(): StoredBatch | null {
    return this.#batches("WHERE is_read = 0 ORDER BY batch LIMIT 1")[0] ?? null;
  }
  #batches(where: string, ...bindings: string[]): StoredBatch[] {
    return execute<{ batch: number; object: string; through: number; is_read: number }>(
      this.#sql,
      `SELECT batch, object, through, is_read FROM pushed_batch ${where}`,
      ...bindings,
    ).map(({ is_read, ...batch }) => ({ ...batch, isRead: is_read === 1 }));
  }

  digestOfId(id: string): string | null {
    return execute<{ digest: string }>(this.#sql, "SELECT digest FROM pushed_id WHERE id = ?", id)[0]?.digest ?? null;
  }

  addBatch({ digest, object, bytes, samples, ids }: StoredRequest): void {
    const [added] = execute<{ batch: number }>(
      this.#sql,
      "INSERT INTO pushed_batch (digest, object, bytes, samples, through, is_read) VALUES (?, ?, ?, ?, 0, 0) RETURNING batch",
      digest,
      object,
      bytes,
      samples,
    );
    const rows = ids.map(([position, id, own]) => [id, own, added?.batch ?? 0, position]);
    execute(
      this.#sql,
      "INSERT OR IGNORE INTO pushed_id (id, digest, batch, position) SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?)",
      JSON.stringify(rows),
    );
  }

  putSamples(batch: number, samples: readonly IndexedSample[], through: number, last: boolean): Added {
    const kept = samples.filter(([, , , , position, , , id]) => id === null || this.#isFirst(id, batch, position));
    const rows = kept.map(([rank, number, text, attempt, position, start, length]) => [rank, number, text, attempt, batch, position, start, length]);
    execute(
      this.#sql,
      `INSERT INTO pushed_sample (rank, number, text, attempt, batch, position, start, length)
        SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5, value ->> 6, value ->> 7 FROM json_each(?)`,
      JSON.stringify(rows),
    );
    execute(this.#sql, "UPDATE pushed_batch SET through = ?, is_read = ? WHERE batch = ?", through, last ? 1 : 0, batch);
    return { samples: kept.length, ...this.#addExamples(kept) };
  }

  #isFirst(id: string, batch: number, position: number): boolean {
    const [known] = execute<{ batch: number; position: number }>(this.#sql, "SELECT batch, position FROM pushed_id WHERE id = ?", id);
    return known === undefined || (known.batch === batch && known.position === position);
  }

  #addExamples(samples: readonly IndexedSample[]): Pick<Added, "examples" | "most"> {
    const counts = new Map<string, number>();
    for (const [rank, number, text] of samples) {
      const key = JSON.stringify([rank, number, text]);
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const rows = [...counts].map(([key, count]) => [...(JSON.parse(key) as unknown[]), count]);
    const now = execute<{ rank: number; number: number; text: string; samples: number }>(
      this.#sql,
      `INSERT INTO pushed_example (rank, number, text, samples) SELECT value ->> 0, value ->> 1, value ->> 2, value ->> 3 FROM json_each(?) WHERE true
        ON CONFLICT (rank, number, text) DO UPDATE SET samples = samples + excluded.samples RETURNING rank, number, text, samples`,
      JSON.stringify(rows),
    );
    const isNew = ({ rank, number, text, samples: count }: (typeof now)[number]): boolean => counts.get(JSON.stringify([rank, number, text])) === count;
    return { examples: now.filter(isNew).length, most: Math.max(0, ...now.map(({ samples: count }) => count)) };
  }

  samplesAfter(cursor: RowCursor | null, limit: number): readonly StoredSample[] {
    const behind = cursor === null ? "" : "WHERE (rank, number, text, attempt, batch, position) > (?, ?, ?, ?, ?, ?)";
    return execute<SampleRecord>(
      this.#sql,
      `SELECT rank, number, text, attempt, batch, position, start, length, (SELECT object FROM pushed_batch AS b WHERE b.batch = s.batch) AS object
        FROM pushed_sample AS s ${behind} ORDER BY rank, number, text, attempt, batch, position LIMIT ?`,
      ...(cursor ?? []),
      limit,
    ).map(({ rank, number, text, attempt, batch, position, start, length, object }) => ({
      cursor: [rank, number, text, attempt, batch, position],
      object,
      offset: start,
      length,
    }));
  }
}
