import type { Answer, Request, TransitionName } from "../../durable-objects/run/transition.ts";
import type { Scene } from "./scene.ts";

const RPC_TIMEOUT_MS = 1_500;

/** Calls of one executor to the Run, each of which may be lost on the way or on the way back. */
export class Calls {
  readonly #world: Scene;
  readonly #alive: () => boolean;
  /** Nothing reaches the Run, and none of its answers comes. */
  cutOff = false;

  /** `alive`: the executor; one that is dead hears nothing. */
  constructor(world: Scene, alive: () => boolean) {
    this.#world = world;
    this.#alive = alive;
  }

  /** An answer later, or `null` after a time-out (request or answer lost, or cut off). */
  make<N extends TransitionName>(name: N, request: Request<N>, then: (answer: Answer<N> | null) => void): void {
    const world = this.#world;
    let settled = false;
    const settle = (answer: Answer<N> | null): void => {
      if (settled || !this.#alive()) return;
      settled = true;
      then(answer);
    };
    world.clock.after(RPC_TIMEOUT_MS, () => settle(null));
    if (this.cutOff || world.outage) return;
    world.message(() => {
      let answer: Answer<N>;
      try {
        answer = world.run.call(name, request);
      } catch (thrown) {
        if (thrown instanceof Error && thrown.message.startsWith("invariant")) throw thrown;
        return;
      }
      if (!this.cutOff) world.message(() => settle(answer));
    });
  }
}
