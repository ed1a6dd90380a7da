import { execute } from "../../counted-sql.ts";
import { storedByAnother } from "../state/stored-version.ts";
import type { Sample, Samples } from "./samples.ts";

/** The key of the samples among the Run's records. No change of version: code that does not know it takes none, and leaves those there are. */
const KEY = "timeline";
const VERSION = 1;

/** The values of a sample in the order in which they are stored. */
const COLUMNS = [
  ...(["t", "generation", "done", "errored", "in_flight", "waiting", "limit", "bound", "bound_limit"] as const),
  ...(["examples", "reward", "lo", "hi", "input_tokens", "output_tokens"] as const),
] as const satisfies readonly (keyof Sample)[];

interface Stored {
  readonly version: number;
  readonly step_ms: number;
  readonly samples: readonly (readonly (string | number | null)[])[];
}

/** The samples of one run as its object stores them: one row of its records. */
export class TimelineRecord {
  readonly #sql: SqlStorage;
  /** As they are stored; null = not read yet, or none. */
  #known: Samples | null = null;
  #isRead = false;
  /** Version of what is stored, where it is not ours. */
  #later: string | null = null;

  constructor(sql: SqlStorage) {
    this.#sql = sql;
  }

  /** Null where none was ever taken. Throws `stored_version_unknown` where a later version took them. */
  get(): Samples | null {
    this.#read();
    if (this.#later !== null) throw storedByAnother("has a timeline of version", this.#later, VERSION);
    return this.#known;
  }

  /** Whether samples are taken by this version: a run goes on where those of a later one are left alone. */
  get isOurs(): boolean {
    this.#read();
    return this.#later === null;
  }

  #read(): void {
    if (this.#isRead) return;
    const [row] = execute<{ value: string }>(this.#sql, "SELECT value FROM record WHERE key = ?", KEY);
    const stored = row === undefined ? null : (JSON.parse(row.value) as Stored);
    this.#later = stored === null || stored.version === VERSION ? null : String(stored.version);
    this.#known = stored === null || this.#later !== null ? null : samplesOf(stored);
    this.#isRead = true;
  }

  put({ step_ms, samples }: Samples): void {
    const stored: Stored = { version: VERSION, step_ms, samples: samples.map((sample) => COLUMNS.map((column) => sample[column])) };
    execute(this.#sql, "INSERT OR REPLACE INTO record (key, value) VALUES (?, ?)", KEY, JSON.stringify(stored));
    this.#known = { step_ms, samples };
    this.#isRead = true;
  }

  /** What was written in a transaction that was rolled back, or before everything was deleted. */
  forget(): void {
    this.#known = null;
    this.#later = null;
    this.#isRead = false;
  }
}

function samplesOf({ step_ms, samples }: Stored): Samples {
  const named = samples.map((values) => Object.fromEntries(COLUMNS.map((column, at) => [column, values[at] ?? null])) as unknown as Sample);
  return { step_ms, samples: named };
}
