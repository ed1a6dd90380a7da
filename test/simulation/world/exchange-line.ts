import type { VirtualTime } from "../limiting/world/virtual-time.ts";
import type { Random } from "./random.ts";

/** What happens to messages between executors and an object that they share. Probabilities, and milliseconds. */
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

/** An object that executors exchange with. */
export interface ExchangeNode<Request, Answer> {
  exchange(request: Request): Promise<Answer>;
}

/** The way of one executor's calls to such an object and back. */
export class ExchangeLine<Request, Answer> implements ExchangeNode<Request, Answer> {
  readonly #node: ExchangeNode<Request, Answer>;
  readonly #time: VirtualTime;
  readonly #random: Random;
  readonly #faults: () => LineFaults;

  constructor(node: ExchangeNode<Request, Answer>, time: VirtualTime, random: Random, faults: () => LineFaults) {
    this.#node = node;
    this.#time = time;
    this.#random = random;
    this.#faults = faults;
  }

  async exchange(request: Request): Promise<Answer> {
    // What is sent is a copy.
    const sent = structuredClone(request);
    const { lost, answerLost, doubled } = this.#faults();
    if (this.#random.chance(doubled)) this.#again(sent);
    await this.#way();
    if (this.#random.chance(lost)) return await this.#fail();
    const answer = structuredClone(await this.#node.exchange(sent));
    if (this.#random.chance(answerLost)) return await this.#fail();
    await this.#way();
    return answer;
  }

  #again(request: Request): void {
    const { late_ms } = this.#faults();
    this.#time
      .sleep(this.#random.int(10, Math.max(20, late_ms)))
      .then(() => this.#node.exchange(structuredClone(request)))
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
