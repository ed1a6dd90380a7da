import type { ExchangeAnswer, ExchangeRequest, LimiterControl } from "../../../../durable-objects/limiter/limiter-control.ts";
import type { Random } from "../../world/random.ts";
import type { LimiterNode } from "./limiter-node.ts";
import type { VirtualTime } from "./virtual-time.ts";

/** What happens to messages between executors and the Limiter. Probabilities, and milliseconds. */
export interface LineFaults {
  readonly lost: number;
  readonly answerLost: number;
  /** It comes a second time, later. */
  readonly doubled: number;
  /** It takes up to so much longer than usual. */
  readonly late: number;
  readonly late_ms: number;
}

export const NO_FAULTS: LineFaults = { lost: 0, answerLost: 0, doubled: 0, late: 0, late_ms: 0 };

const WAY_MS: readonly [number, number] = [1, 10];
/** After that the platform says that a call has failed. */
const LOST_MS = 2_000;

/** The way of one executor's calls to the Limiter and back. */
export class LimiterLine implements Pick<LimiterControl, "exchange"> {
  readonly #limiter: LimiterNode;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #faults: () => LineFaults;

  constructor(limiter: LimiterNode, time: VirtualTime, random: Random, faults: () => LineFaults) {
    this.#limiter = limiter;
    this.#time = time;
    this.#random = random;
    this.#faults = faults;
  }

  async exchange(request: ExchangeRequest): Promise<ExchangeAnswer> {
    // What is sent is a copy.
    const sent = structuredClone(request);
    const { lost, answerLost, doubled } = this.#faults();
    if (this.#random.chance(doubled)) this.#again(sent);
    await this.#way();
    if (this.#random.chance(lost)) return await this.#fail();
    const answer = structuredClone(await this.#limiter.exchange(sent));
    if (this.#random.chance(answerLost)) return await this.#fail();
    await this.#way();
    return answer;
  }

  #again(request: ExchangeRequest): void {
    const { late_ms } = this.#faults();
    this.#time
      .sleep(this.#random.int(10, Math.max(20, late_ms)))
      .then(() => this.#limiter.exchange(structuredClone(request)))
      .catch(() => undefined);
  }

  async #way(): Promise<void> {
    const { late, late_ms } = this.#faults();
    await this.#time.sleep(this.#random.int(...WAY_MS) + (this.#random.chance(late) ? this.#random.int(0, late_ms) : 0));
  }

  async #fail(): Promise<never> {
    await this.#time.sleep(this.#random.int(1, LOST_MS));
    throw new Error("Network connection lost.");
  }
}
