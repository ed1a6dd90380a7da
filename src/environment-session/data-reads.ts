import { EdgewiseError } from "../errors/result.ts";
import type { DatasetSpec } from "../datasets/spec.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import { thrownOf } from "../environment-protocol/crossed-error.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import type { ToEnvironmentOf } from "../environment-protocol/to-environment.ts";
import type { RowSource } from "../environments/definition/examples.ts";

type Rows = ToEnvironmentOf<"data_rows">;

/** Data sets that the engine's side reads for the environment, page by page as they are asked for. */
export class DataReads {
  readonly #outbox: Outbox;
  readonly #waiting = new Map<number, (page: Rows) => void>();
  #reads = 0;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  /** Rows of `spec`; each reading begins anew. */
  readonly of =
    (spec: DatasetSpec): RowSource =>
    () =>
      this.#read(spec);

  taken(page: Rows): void {
    const take = this.#waiting.get(page.read);
    this.#waiting.delete(page.read);
    take?.(page);
  }

  async *#read(spec: DatasetSpec): AsyncGenerator<JsonObject> {
    const read = ++this.#reads;
    let page = await this.#page(read, { type: "data", read, spec });
    let isOver = false;
    try {
      for (;;) {
        isOver = page.done || page.error !== undefined;
        yield* page.rows as JsonObject[];
        if (page.error !== undefined) throw thrownOf(page.error);
        if (page.done) return;
        page = await this.#page(read, { type: "data_next", read });
      }
    } finally {
      if (!isOver) this.#outbox.put({ type: "data_end", read });
    }
  }

  #page(read: number, message: object): Promise<Rows> {
    if (this.#waiting.has(read)) throw new EdgewiseError("internal", "a page of a data set was asked for twice");
    return new Promise((resolve) => {
      this.#waiting.set(read, resolve);
      this.#outbox.put(message);
    });
  }
}
