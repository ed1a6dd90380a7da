import { DurableObject } from "cloudflare:workers";
import { type Env, QUEUE_BINDING } from "../../src/env.ts";
import { count } from "../../src/operations.ts";
import { numberVar } from "../timing.ts";
import type { DispatcherControl, WakeUp } from "./dispatcher-control.ts";
import { OfferStore } from "./offer-store.ts";
import { type NextAnswer, type NextRequest, OfferBook, type OfferMessage } from "./offers.ts";

/** Messages of one `sendBatch` (D queues/platform/limits). */
const BATCH = 100;

/** Which runs want lanes. Soft state: an unknown or lost one starts empty, and every Run announces itself again within a minute. */
export class Dispatcher extends DurableObject<Env> implements DispatcherControl {
  readonly #store: OfferStore;
  readonly #book: OfferBook;
  #alarm: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    this.#store = new OfferStore(ctx.storage);
    this.#book = new OfferBook(this.#store.all());
  }

  async offer(message: OfferMessage): Promise<void> {
    this.#book.offer(message, Date.now());
    this.#keep();
  }

  async next(request: NextRequest): Promise<NextAnswer> {
    const answer = this.#book.next(request, Date.now());
    this.#keep();
    return answer;
  }

  /** Sends the wake-ups that are due, so that no caller waits for a queue. */
  override async alarm(): Promise<void> {
    count("do_requests");
    this.#alarm = null;
    const due = this.#book.nudge(numberVar("EXECUTOR_REQUESTS", this.env.EXECUTOR_REQUESTS, 5), Date.now());
    this.#keep();
    for (const { run, seq, count: executors, slice } of due) await this.#wake({ protocol: 1, run, seq, slice_ms: slice }, executors);
  }

  /** Stores what changed, and sets the alarm. */
  #keep(): void {
    this.#store.write(this.#book.takeChanges());
    const wake = this.#book.nextWake;
    if (wake === null || (this.#alarm !== null && this.#alarm <= wake)) return;
    this.#alarm = wake;
    count("do_rows_written");
    void this.ctx.storage.setAlarm(Math.max(wake, Date.now()));
  }

  /** Wakes `executors` consumers, spread over the queues. A message that cannot be sent is made good by the next nudge. */
  async #wake(message: WakeUp, executors: number): Promise<void> {
    const queues = Object.entries(this.env)
      .filter(([name]) => QUEUE_BINDING.test(name))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([, queue]) => queue as Queue<WakeUp>);
    const messages = Array.from({ length: Math.min(BATCH, Math.max(executors, queues.length, 1)) }, () => ({ body: message }));
    for (const [index, queue] of queues.entries()) {
      const share = messages.filter((_, at) => at % queues.length === index);
      if (share.length === 0) continue;
      count("queue_operations", share.length);
      try {
        await queue.sendBatch(share);
      } catch (thrown) {
        console.warn(`dispatcher: wake-up for run ${message.run} not sent: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
      }
    }
  }
}
