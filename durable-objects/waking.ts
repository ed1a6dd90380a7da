import { steadyNow } from "../src/steady-clock.ts";

/**
 * The one alarm of a Durable Object. What is due is told by the steady clock, alarms go by the machine's. One that is set too early only looks and
 * sets the next one, so a lease that is renewed each second costs no row each second.
 */
export class Waking {
  readonly #storage: { setAlarm(machine: number): Promise<void> };
  /** When it will come; null = not set, or not known to be. */
  #at: number | null = null;

  constructor(storage: { setAlarm(machine: number): Promise<void> }) {
    this.#storage = storage;
  }

  /** Comes at `at` (as `steadyNow`) or before. Answers whether that had to be stored. */
  by(at: number): boolean {
    if (this.#at !== null && this.#at <= at) return false;
    this.#at = at;
    const left = at - steadyNow();
    // What is due is due whatever the clock does next: an alarm of the past runs at once.
    void this.#storage.setAlarm(left <= 0 ? 1 : Date.now() + left);
    return true;
  }

  /** The alarm that was stored came, or what is known of it no longer holds. */
  forget(): void {
    this.#at = null;
  }

  /** It is stored for `machine` (Unix milliseconds by the machine's clock). */
  isStoredFor(machine: number): void {
    this.#at = machine - Date.now() + steadyNow();
  }
}
