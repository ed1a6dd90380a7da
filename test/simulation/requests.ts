import type { Holding } from "../../durable-objects/run/protocol.ts";
import type { Scene } from "./scene.ts";

const limitOf = ({ requests, generation = requests }: Holding): number => Math.max(1, Math.min(requests, generation));

/** Model requests of one executor, as the gate of its grant lets them through. */
export class Requests {
  readonly #world: Scene;
  #limit = 0;
  readonly #inFlight = new Set<string>();
  #waiting: (() => void)[] = [];
  #narrowed: (() => void)[] = [];

  constructor(world: Scene) {
    this.#world = world;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** A new grant begins. */
  open(grant: Holding): void {
    this.#limit = limitOf(grant);
    this.#narrowed = [];
  }

  /** True when one may begin now, for this unit and rollout; else `again` is called when there is room. */
  enter(rollout: string, again: () => void): boolean {
    if (this.#inFlight.size >= this.#limit) {
      this.#waiting.push(again);
      return false;
    }
    this.#inFlight.add(rollout);
    this.#world.requestStarted(rollout);
    return true;
  }

  leave(rollout: string): void {
    this.#inFlight.delete(rollout);
    this.#world.requestEnded(rollout);
    this.#tellNarrowed();
  }

  /** Those of a unit end unanswered. */
  cut(unit: number, rollouts: Set<number>): void {
    for (const rollout of rollouts) this.leave(`${unit}/${rollout}`);
    rollouts.clear();
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
    if (this.#inFlight.size <= this.#limit) for (const then of this.#narrowed.splice(0)) then();
  }

  /** They are cut, and nobody waits any more. */
  abort(): void {
    for (const rollout of this.#inFlight) this.#world.requestEnded(rollout);
    this.#inFlight.clear();
    this.#waiting = [];
    this.#narrowed = [];
  }
}
