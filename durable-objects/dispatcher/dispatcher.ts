import { DurableObject } from "cloudflare:workers";
import { type Env, QUEUE_BINDING } from "../../src/env.ts";
import { count } from "../../src/operations.ts";
import { numberVar } from "../timing.ts";
import type { DispatcherControl, WakeUp } from "./dispatcher-control.ts";
import {
  DISPATCHER_VERSION,
  type DispatcherState,
  emptyDispatcher,
  type NextAnswer,
  type NextRequest,
  next,
  nextDispatcherWake,
  nudge,
  type OfferMessage,
  offer,
} from "./offers.ts";

const KEY = "state";
/** Messages of one `sendBatch` (D queues/platform/limits). */
const BATCH = 100;

/** Which runs want lanes. Soft state: an unknown or lost one starts empty, and every Run announces itself again within a minute. */
export class Dispatcher extends DurableObject<Env> implements DispatcherControl {
  #state: DispatcherState;
  #alarm: number | null = null;

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env);
    const stored = ctx.storage.kv.get<DispatcherState>(KEY);
    this.#state = stored?.version === DISPATCHER_VERSION ? stored : emptyDispatcher();
  }

  async offer(message: OfferMessage): Promise<void> {
    offer(this.#state, message, Date.now());
    await this.#proceed(true);
  }

  async next(request: NextRequest): Promise<NextAnswer> {
    const answer = next(this.#state, request, Date.now());
    await this.#proceed(answer.runs.length > 0 || request.refused.length > 0);
    return answer;
  }

  override async alarm(): Promise<void> {
    count("do_requests");
    this.#alarm = null;
    await this.#proceed(true);
  }

  /** Nudges what is due, stores what changed and sets the alarm. */
  async #proceed(changed: boolean): Promise<void> {
    const due = nudge(this.#state, numberVar("EXECUTOR_REQUESTS", this.env.EXECUTOR_REQUESTS, 5), Date.now());
    if (changed || due.length > 0) {
      this.ctx.storage.kv.put(KEY, this.#state);
      count("do_rows_written");
      this.#setAlarm();
    }
    for (const { run, seq, count: executors, slice } of due) await this.#wake({ protocol: 1, run, seq, slice_ms: slice }, executors);
  }

  #setAlarm(): void {
    const wake = nextDispatcherWake(this.#state);
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
