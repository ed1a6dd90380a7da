import { onAbort } from "../clients/transport/on-abort.ts";

interface Told {
  readonly number: number;
  /** Open units that have it. */
  units: number;
  readonly letGo: () => void;
}

/** Signals of this side by the numbers that the other knows them by: each as long as a unit that has it is open. */
export class ToldSignals {
  readonly #abort: (number: number, reason: unknown) => void;
  readonly #known = new Map<AbortSignal, Told>();
  readonly #ofUnits = new Map<number, AbortSignal[]>();
  #numbers = 0;

  /** `abort` tells the other side. */
  constructor(abort: (number: number, reason: unknown) => void) {
    this.#abort = abort;
  }

  /** The number of `signal`, for `unit`: when it aborts, the other side is told, also of one that has. */
  of(signal: AbortSignal, unit: number): number {
    const known = this.#known.get(signal) ?? this.#begin(signal);
    const own = this.#ofUnits.get(unit) ?? [];
    this.#ofUnits.set(unit, own);
    if (!own.includes(signal)) {
      own.push(signal);
      known.units++;
    }
    return known.number;
  }

  #begin(signal: AbortSignal): Told {
    const number = ++this.#numbers;
    const told = { number, units: 0, letGo: onAbort(signal, () => this.#abort(number, signal.reason)) };
    this.#known.set(signal, told);
    if (signal.aborted) this.#abort(number, signal.reason);
    return told;
  }

  /** The unit is over. */
  end(unit: number): void {
    for (const signal of this.#ofUnits.get(unit) ?? []) {
      const known = this.#known.get(signal);
      if (known === undefined || --known.units > 0) continue;
      known.letGo();
      this.#known.delete(signal);
    }
    this.#ofUnits.delete(unit);
  }

  endAll(): void {
    for (const unit of [...this.#ofUnits.keys()]) this.end(unit);
  }
}
