/** One request as the model server saw it. Times are Unix milliseconds with a fraction. */
export interface LedgerEntry {
  readonly n: number;
  readonly model: string;
  /** Text of the newest user message. */
  readonly prompt: string;
  /** Header `X-Session-ID`. */
  readonly session: string | null;
  readonly start_ms: number;
  /** Null while the request is in flight. */
  end_ms: number | null;
  /** `answered`, the kind of the fault, or `aborted` when the client went away first; null while in flight. */
  outcome: string | null;
  /** Order of starts and ends among all requests, which times of equal value do not tell. */
  readonly opened: number;
  closed: number | null;
}

export interface Stats {
  readonly total: number;
  readonly in_flight: number;
  /** Most requests in flight at one moment. A request ends when its answer is handed to the socket, so before the client has it. */
  readonly peak_in_flight: number;
  readonly outcomes: Readonly<Record<string, number>>;
  readonly prompts: number;
  /** Requests beyond the first with the same prompt and session. */
  readonly repeated: number;
  readonly first_start_ms: number | null;
  readonly last_start_ms: number | null;
  readonly last_end_ms: number | null;
}

export interface Calls {
  readonly prompt: string;
  readonly session: string | null;
  readonly count: number;
}

const now = (): number => performance.timeOrigin + performance.now();

/** Everything that was asked of the server, in the order of arrival. */
export class Ledger {
  #entries: LedgerEntry[] = [];
  #order = 0;

  begin(facts: Pick<LedgerEntry, "model" | "prompt" | "session">): LedgerEntry {
    const entry: LedgerEntry = { n: this.#entries.length + 1, ...facts, start_ms: now(), end_ms: null, outcome: null, opened: this.#order++, closed: null };
    this.#entries.push(entry);
    return entry;
  }

  /** The first end counts. */
  end(entry: LedgerEntry, outcome: string): void {
    if (entry.closed !== null) return;
    entry.closed = this.#order++;
    entry.end_ms = now();
    entry.outcome = outcome;
  }

  /** Requests of one model, or all. */
  entries(model?: string): readonly LedgerEntry[] {
    return model === undefined ? this.#entries : this.#entries.filter((entry) => entry.model === model);
  }

  /** How often each prompt was asked, by session. */
  calls(model?: string): readonly Calls[] {
    const counted = new Map<string, { prompt: string; session: string | null; count: number }>();
    for (const { prompt, session } of this.entries(model)) {
      const key = JSON.stringify([prompt, session]);
      const known = counted.get(key);
      if (known === undefined) counted.set(key, { prompt, session, count: 1 });
      else known.count++;
    }
    return [...counted.values()];
  }

  stats(model?: string): Stats {
    const entries = this.entries(model);
    const outcomes: Record<string, number> = {};
    let lastEnd: number | null = null;
    for (const { outcome, end_ms: end } of entries) {
      if (outcome !== null) outcomes[outcome] = (outcomes[outcome] ?? 0) + 1;
      if (end !== null && (lastEnd === null || end > lastEnd)) lastEnd = end;
    }
    const calls = this.calls(model);
    return {
      total: entries.length,
      in_flight: entries.filter(({ closed }) => closed === null).length,
      peak_in_flight: this.#peak(entries),
      outcomes,
      prompts: new Set(calls.map(({ prompt }) => prompt)).size,
      repeated: entries.length - calls.length,
      first_start_ms: entries[0]?.start_ms ?? null,
      last_start_ms: entries.at(-1)?.start_ms ?? null,
      last_end_ms: lastEnd,
    };
  }

  /** Forgets what is over; a request in flight belongs to the new page too. */
  clear(): void {
    this.#entries = this.#entries.filter(({ closed }) => closed === null);
  }

  #peak(entries: readonly LedgerEntry[]): number {
    const change = new Int8Array(this.#order);
    for (const { opened, closed } of entries) {
      change[opened] = 1;
      if (closed !== null) change[closed] = -1;
    }
    let open = 0;
    let peak = 0;
    for (const step of change) {
      open += step;
      if (open > peak) peak = open;
    }
    return peak;
  }
}
