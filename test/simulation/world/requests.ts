import type { Holding } from "../../../durable-objects/run/protocol.ts";
import type { Session } from "../../../src/executor/session/session.ts";
import type { SessionEvent } from "../../../src/executor/session/session-events.ts";
import type { Scene } from "./scene.ts";

const limitOf = ({ requests, generation = requests }: Holding): number => (requests === 0 ? 0 : Math.max(1, Math.min(requests, generation)));

/** Another run has nothing: this one is to make room; or somebody else made it. */
export const roomFor = ({ allowed, isFalling }: Session["holdings"]): SessionEvent =>
  isFalling ? { type: "keep" } : { type: "narrow", requests: Math.max(1, Math.floor(allowed.requests * 0.7)) };

/** Model requests of one executor, as the gate of its grant lets them through. */
export class Requests {
  readonly #world: Scene;
  #limit = 0;
  readonly #inFlight = new Set<string>();
  #waiting: (() => void)[] = [];
  #narrowed: ((inFlight: number) => void) | null = null;

  constructor(world: Scene) {
    this.#world = world;
  }

  get inFlight(): number {
    return this.#inFlight.size;
  }

  /** A new grant begins. */
  open(grant: Holding): void {
    this.#limit = limitOf(grant);
    this.#narrowed = null;
  }

  /** True when one may begin now, for this unit and rollout, and its so many-th turn; else `again` is called when there is room. */
  enter(rollout: string, turn: number, again: () => void): boolean {
    if (this.#inFlight.size >= this.#limit) {
      this.#waiting.push(again);
      return false;
    }
    this.#inFlight.add(rollout);
    this.#world.requestStarted(rollout, turn);
    return true;
  }

  leave(rollout: string): void {
    this.#inFlight.delete(rollout);
    this.#world.requestEnded(rollout);
    if (this.#narrowed !== null) this.#world.clock.after(0, () => this.#tellNarrowed());
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

  /** As the executor's gate: a larger size admits at once, a smaller one takes effect as requests end; `tell` hears how many are under way until no more are. */
  narrow(holding: Holding, tell: (inFlight: number) => void): void {
    this.#limit = limitOf(holding);
    this.#narrowed = tell;
    this.#world.clock.after(0, () => {
      this.#tellNarrowed();
      while (this.#waiting.length > 0 && this.#inFlight.size < this.#limit) this.admit();
    });
  }

  #tellNarrowed(): void {
    const tell = this.#narrowed;
    if (this.#inFlight.size <= this.#limit) this.#narrowed = null;
    tell?.(this.#inFlight.size);
  }

  /** They are cut, and nobody waits any more. */
  abort(): void {
    for (const rollout of this.#inFlight) this.#world.requestEnded(rollout);
    this.#inFlight.clear();
    this.#waiting = [];
    this.#narrowed = null;
  }
}
