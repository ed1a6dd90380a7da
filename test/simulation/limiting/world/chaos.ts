import type { LimitedWorld } from "./limited-world.ts";
import type { LineFaults } from "../../world/exchange-line.ts";

/** How often what goes wrong; means in milliseconds, null = never. */
export interface ChaosPlan {
  readonly line: LineFaults;
  readonly limiterKills_ms: number | null;
  /** The Limiter cannot be reached for up to so long. */
  readonly outages_ms: number | null;
  readonly executorKills_ms: number | null;
  /** From then on nothing goes wrong any more. */
  readonly calmAt: number;
}

const LONGEST_OUTAGE_MS = 6_000;
const LONGEST_ABSENCE_MS = 3_000;

/** Lets things go wrong in a world until its time is over. */
export class Chaos {
  readonly #world: LimitedWorld;
  readonly #plan: ChaosPlan;
  /** When the newest thing went wrong, or was over. */
  lastAt = 0;

  constructor(world: LimitedWorld, plan: ChaosPlan) {
    this.#world = world;
    this.#plan = plan;
    world.lineFaults = plan.line;
    // While messages are lost something is always on its way.
    const { lost, answerLost, late } = plan.line;
    if (lost + answerLost + late > 0) this.lastAt = plan.calmAt;
    world.time.clock.at(plan.calmAt, () => this.#calm());
    this.#often(plan.limiterKills_ms, () => world.limiter.kill());
    this.#often(plan.outages_ms, () => this.#outage());
    this.#often(plan.executorKills_ms, () => this.#killExecutor());
  }

  #often(mean: number | null, strike: () => void): void {
    if (mean === null) return;
    const { random, time } = this.#world;
    const next = (): void => {
      time.clock.after(-Math.log(1 - random.next()) * mean, () => {
        if (this.#world.now >= this.#plan.calmAt) return;
        this.#struck();
        strike();
        next();
      });
    };
    next();
  }

  #struck(): void {
    this.lastAt = Math.max(this.lastAt, this.#world.now);
  }

  #outage(): void {
    const { limiter, random, time } = this.#world;
    limiter.isAway = true;
    time.clock.after(random.int(100, LONGEST_OUTAGE_MS), () => {
      limiter.isAway = false;
      this.#struck();
    });
  }

  /** Another takes its place a moment later. */
  #killExecutor(): void {
    const { executors, random, time } = this.#world;
    const living = executors.filter(({ alive }) => alive);
    if (living.length === 0) return;
    const served = random.pick(living).kill();
    time.clock.after(random.int(0, LONGEST_ABSENCE_MS), () => {
      const node = this.#world.start();
      for (const { run, requests } of served) this.#world.serve(node, run, requests);
      this.#struck();
    });
  }

  #calm(): void {
    this.#world.lineFaults = null;
    this.#world.limiter.isAway = false;
    this.#struck();
  }
}
