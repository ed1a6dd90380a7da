import type { Answer, Request, TransitionName } from "../../../durable-objects/run/transition.ts";
import type { Scene } from "./scene.ts";

const RPC_TIMEOUT_MS = 1_500;

/** Calls of one executor to the Run, each of which may be lost on the way or on the way back. */
export class Calls {
  /** That of the run it works for. */
  world: Scene;
  readonly #alive: () => boolean;
  /** Nothing reaches the Run, and none of its answers comes. */
  cutOff = false;

  /** `alive`: the executor; one that is dead hears nothing. */
  constructor(world: Scene, alive: () => boolean) {
    this.world = world;
    this.#alive = alive;
  }

  /** May cut it off for a while; with the last fault it is over. */
  partition(): void {
    const { clock, plan, random, calm } = this.world;
    if (this.world.strikes(plan.fault.partition)) {
      this.cutOff = true;
      clock.after(random.int(1_000, 20_000), () => {
        this.cutOff = false;
      });
    }
    if (calm) this.cutOff = false;
  }

  /** As long as the executor lives. */
  after(ms: number, then: () => void): void {
    this.world.clock.after(ms, () => this.#alive() && then());
  }

  /** An answer later, or `null` after a time-out (request or answer lost, or cut off). */
  make<N extends TransitionName>(name: N, request: Request<N>, then: (answer: Answer<N> | null) => void): void {
    const { world } = this;
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
