import { execute } from "./counted-sql.ts";

/** Tables that an object makes when it first looks into one of them, once in its life: one that is never asked for them has none. */
export class LateTables {
  readonly #storage: DurableObjectStorage;
  readonly #tables: string;
  #made = false;
  /** `tables`: statements that make them where they are not there. */
  constructor(storage: DurableObjectStorage, tables: string) {
    this.#storage = storage;
    this.#tables = tables;
  }

  /** As `execute`. */
  rows<Row extends Record<string, SqlStorageValue>>(statement: string, ...values: SqlStorageValue[]): Row[] {
    this.#make();
    return execute<Row>(this.#storage.sql, statement, ...values);
  }

  /** All that `work` writes, or, where it throws, nothing of it. */
  transaction<T>(work: () => T): T {
    // Before it begins: they would be unmade with what failed.
    this.#make();
    return this.#storage.transactionSync(work);
  }

  #make(): void {
    if (!this.#made) execute(this.#storage.sql, this.#tables);
    this.#made = true;
  }
}
