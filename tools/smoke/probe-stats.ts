/** What the probe counted of one model: all that was asked of it since it was asked first. */
export interface ProbeStats {
  readonly requests: number;
  /** Most requests under way at one moment. One ends when its answer is handed over, so before its client has it. */
  readonly most_at_once: number;
  /** Requests that their clients did not wait for. */
  readonly given_up: number;
  /** Unix milliseconds: the first request, the moment of the most at once, and the end of the last; null before. */
  readonly first_ms: number | null;
  readonly most_ms: number | null;
  readonly last_ms: number | null;
  /** Sum of the time that each was under way. */
  readonly busy_ms: number;
}

/** One request. `opened` and `closed` are places in one order, which times of equal value do not tell. */
export interface ProbeCall {
  readonly opened: number;
  readonly opened_ms: number;
  /** When its answer is due: one that ended without a word ended then at the latest. */
  readonly due_ms: number;
  readonly closed: number | null;
  readonly closed_ms: number | null;
  readonly given_up: boolean;
}

/** Pure. */
export function statsOf(calls: readonly ProbeCall[]): ProbeStats {
  const ends = calls.map(({ closed, closed_ms, due_ms }) => ({ at: closed_ms ?? due_ms, order: closed ?? Number.POSITIVE_INFINITY, step: -1 }));
  const changes = [...calls.map(({ opened, opened_ms }) => ({ at: opened_ms, order: opened, step: 1 })), ...ends];
  // Of two that both ended without a word the order is no difference.
  changes.sort((a, b) => a.at - b.at || (a.order === b.order ? 0 : a.order - b.order));
  let [open, most] = [0, 0];
  let mostAt: number | null = null;
  for (const { at, step } of changes) {
    open += step;
    if (open > most) [most, mostAt] = [open, at];
  }
  return {
    requests: calls.length,
    most_at_once: most,
    given_up: calls.filter(({ given_up }) => given_up).length,
    first_ms: changes[0]?.at ?? null,
    most_ms: mostAt,
    last_ms: changes.at(-1)?.at ?? null,
    busy_ms: calls.reduce((total, { opened_ms, closed_ms, due_ms }) => total + (closed_ms ?? due_ms) - opened_ms, 0),
  };
}
