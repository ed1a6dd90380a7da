import type { JsonObject } from "../config/plan/run-config.ts";
import { datasetReference } from "../datasets/reference.ts";
import { datasetRows } from "../datasets/rows.ts";
import type { DatasetSpec } from "../datasets/spec.ts";
import { crossing } from "../environment-protocol/crossed-error.ts";
import type { Outbox } from "../environment-protocol/outbox.ts";
import { nextPage } from "../environment-protocol/pages.ts";
import type { LoadContext } from "../environments/definition/definition.ts";
import { EdgewiseError } from "../errors/result.ts";

/** Data sets that are read at once, and in all: each takes requests that the executor has a number of. */
const MAX_READS = 8;
const MAX_READS_IN_ALL = 64;

interface Reading {
  readonly rows: AsyncIterator<JsonObject>;
  busy: boolean;
}

/**
 * Reads data sets for an environment behind a wall. Uploads, addresses, and what our token for the Hub opens, it is given where the run's arguments name them;
 * addresses of hosts that it declares too, since it may send requests there anyway. An address of its own choice would be a way out for what it knows.
 */
export class DatasetServer {
  readonly #outbox: Outbox;
  readonly #context: Pick<LoadContext, "datasets" | "rows">;
  readonly #named: unknown;
  readonly #hosts: readonly string[];
  readonly #readings = new Map<number, Reading>();
  #last = 0;
  #begun = 0;

  /** `args`: of the run; `hosts`: those that the environment declares. */
  constructor(
    outbox: Outbox,
    context: Pick<LoadContext, "datasets" | "rows">,
    { args, hosts }: { readonly args: JsonObject; readonly hosts: readonly string[] },
  ) {
    this.#outbox = outbox;
    this.#context = context;
    this.#named = args.dataset;
    this.#hosts = hosts;
  }

  /** Pages are being read. */
  get isReading(): boolean {
    return [...this.#readings.values()].some(({ busy }) => busy);
  }

  /** Returns what is wrong with the number of the reading, if anything. */
  begin(read: number, spec: DatasetSpec): string | null {
    if (read <= this.#last) return `it gave the number ${read} to a second reading`;
    this.#last = read;
    try {
      if (++this.#begun > MAX_READS_IN_ALL) throw new EdgewiseError("dataset_unreadable", `an environment reads ${MAX_READS_IN_ALL} data sets at most`);
      if (this.#readings.size >= MAX_READS) throw new EdgewiseError("dataset_unreadable", `${MAX_READS} data sets are being read already`);
      this.#readings.set(read, { rows: this.#rowsOf(spec)[Symbol.asyncIterator](), busy: false });
    } catch (thrown) {
      this.#outbox.put({ type: "data_rows", read, rows: [], done: true, error: crossing(thrown) });
      return null;
    }
    this.next(read);
    return null;
  }

  next(read: number): void {
    const reading = this.#readings.get(read);
    if (reading === undefined || reading.busy) return;
    reading.busy = true;
    nextPage(reading.rows).then(
      (page) => {
        reading.busy = false;
        if (page.done) this.#readings.delete(read);
        this.#outbox.put({ type: "data_rows", read, ...page }, 1024 * 1024);
      },
      (thrown: unknown) => {
        this.#readings.delete(read);
        this.#outbox.put({ type: "data_rows", read, rows: [], done: true, error: crossing(thrown) });
      },
    );
  }

  end(read: number): void {
    const reading = this.#readings.get(read);
    this.#readings.delete(read);
    reading?.rows.return?.().catch(() => undefined);
  }

  endAll(): void {
    for (const read of [...this.#readings.keys()]) this.end(read);
  }

  #rowsOf(spec: DatasetSpec): AsyncIterable<JsonObject> {
    const { rows, datasets } = this.#context;
    const isNamed = spec.dataset === this.#named;
    const reference = datasetReference(spec.dataset);
    if (!isNamed && reference.kind === "digest")
      throw new EdgewiseError("dataset_unreadable", "an upload is read where the run names it", { hint: 'name it: env_args {"dataset": "sha256:…"}' });
    if (!isNamed && reference.kind === "url" && !this.#hosts.includes(new URL(reference.url).host))
      throw new EdgewiseError(
        "dataset_unreadable",
        `rows are read from ${new URL(reference.url).host} where the run names the address, or the environment declares the host`,
        {
          hint: 'name it: env_args {"dataset": "https://…"}; or declare it: hosts: ["…"]',
        },
      );
    if (rows !== undefined) return rows(spec)(-1);
    return datasetRows(spec, isNamed ? datasets : { ...datasets, hub: { ...datasets.hub, token: null } });
  }
}
