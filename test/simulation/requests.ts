import type { Holding } from "../../durable-objects/run/protocol.ts";
import type { Scene } from "./scene.ts";

const limitOf = ({ requests, generation = requests }: Holding): number => Math.max(1, Math.min(requests, generation));

/** Model requests of one executor, as the gate of its grant lets them through. */
export class Requests {
  readonly #world: Scene;
  #limit = 0;
  #inFlight = 0;
  #waiting: (() => void)[] = [];
  #narrowed: (() => void)[] = [];

  constructor(world: Scene) {
    this.#world = world;
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  /** A new grant begins. */
  open(grant: Holding): void {
    this.#limit = limitOf(grant);
    this.#narrowed = [];
  }

  /** True when one may begin now, for this unit and rollout; else `again` is called when there is room. */
  enter(rollout: string, again: () => void): boolean {
    if (this.#inFlight >= this.#limit) {
      this.#waiting.push(again);
      return false;
    }
    this.#inFlight++;
    this.#world.requestStarted(rollout);
    return true;
  }

  leave(): void {
    this.#inFlight--;
    this.#world.inFlight--;
    this.#tellNarrowed();
  }

  /** Whoever waits longest tries again. */
  admit(): void {
    this.#waiting.shift()?.();
  }

  /** As the executor's gate: a smaller size takes effect as requests end; `then` is called once no more are under way. */
  narrow(holding: Holding, then: () => void): void {
    this.#limit = limitOf(holding);
    this.#narrowed.push(then);
    this.#world.clock.after(0, () => this.#tellNarrowed());
  }

  #tellNarrowed(): void {
    if (this.#inFlight <= this.#limit) for (const then of this.#narrowed.splice(0)) then();
  }

  /** They are cut, and nobody waits any more. */
  abort(): void {
    this.#world.inFlight -= this.#inFlight;
    this.#inFlight = 0;
    this.#waiting = [];
    this.#narrowed = [];
  }
}
