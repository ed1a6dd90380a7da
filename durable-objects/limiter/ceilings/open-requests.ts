import { sumOf } from "./traffic.ts";

/** Refusals of one executor that are remembered, the newest of an incident that does not end: the median of a third of them says as much as of more. */
const REMEMBERED = 512;

interface AtRefusals {
  values: number[];
  most: number;
}

/** Requests that were in flight while some were refused: of executors that were refused as each of its refusals says, of others as they said before. */
export class OpenRequests {
  readonly #said: Map<string, number>;
  readonly #atRefusals = new Map<string, AtRefusals>();
  /** Fewest in flight, all together, when one was refused. */
  least = Number.POSITIVE_INFINITY;

  constructor(said: ReadonlyMap<string, number>) {
    this.#said = new Map(said);
  }

  /** `inFlight`: of `executor` when the refused request was sent. `said`: of all, as they said last. */
  refused(executor: string, inFlight: number, said: ReadonlyMap<string, number>): void {
    const known = this.#atRefusals.get(executor) ?? { values: [], most: 0 };
    known.values.push(inFlight);
    if (known.values.length > 2 * REMEMBERED) known.values = known.values.slice(-REMEMBERED);
    known.most = Math.max(known.most, inFlight);
    this.#atRefusals.set(executor, known);
    this.least = Math.min(this.least, inFlight + sumOf(said) - (said.get(executor) ?? 0));
  }

  /** At the newest refusals: where their limit has fallen the first ones saw more than it. */
  get atLast(): number {
    return this.#sum(({ values }) => {
      const newest = values.slice(-Math.ceil(values.length / 3)).sort((a, b) => a - b);
      return newest[Math.floor(newest.length / 2)] ?? 0;
    });
  }

  /** `executor` has so many open, and they were taken: of one that began a moment ago nothing else is known. */
  heard(executor: string, inFlight: number): void {
    this.#said.set(executor, Math.max(inFlight, this.#said.get(executor) ?? 0));
  }

  get most(): number {
    return this.#sum(({ most }) => most);
  }

  #sum(of: (at: AtRefusals) => number): number {
    const open = new Map(this.#said);
    for (const [executor, at] of this.#atRefusals) open.set(executor, of(at));
    return sumOf(open);
  }
}
