import { sumOf } from "./traffic.ts";

/** Requests that were in flight while some were refused: of executors that were refused as each of its refusals says, of others as they said before. */
export class OpenRequests {
  readonly #said: Map<string, number>;
  readonly #atRefusals = new Map<string, number[]>();
  /** Fewest in flight, all together, when one was refused. */
  least = Number.POSITIVE_INFINITY;

  constructor(said: ReadonlyMap<string, number>) {
    this.#said = new Map(said);
  }

  /** `inFlight`: of `executor` when the refused request was sent. `said`: of all, as they said last. */
  refused(executor: string, inFlight: number, said: ReadonlyMap<string, number>): void {
    const values = this.#atRefusals.get(executor) ?? [];
    values.push(inFlight);
    this.#atRefusals.set(executor, values);
    this.least = Math.min(this.least, inFlight + sumOf(said) - (said.get(executor) ?? 0));
  }

  /** At the newest refusals: where their limit has fallen the first ones saw more than it. */
  get atLast(): number {
    return this.#sum((values) => {
      const newest = values.slice(-Math.ceil(values.length / 3)).sort((a, b) => a - b);
      return newest[Math.floor(newest.length / 2)] ?? 0;
    });
  }

  get most(): number {
    return this.#sum((values) => Math.max(...values));
  }

  #sum(of: (values: readonly number[]) => number): number {
    const open = new Map(this.#said);
    for (const [executor, values] of this.#atRefusals) open.set(executor, of(values));
    return sumOf(open);
  }
}
