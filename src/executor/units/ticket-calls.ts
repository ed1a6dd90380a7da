import { failureOf } from "../../errors/result.ts";
import type { ExecutorPorts } from "../ports.ts";
import { RetryWaits } from "./retry-waits.ts";
import type { SessionEvent } from "../session/session-events.ts";
import type { Slice } from "../slice.ts";
import type { StorageOutage } from "./storage-outage.ts";

const CALL_MS = 15_000;

interface CallsHost {
  readonly ports: Pick<ExecutorPorts, "random">;
  readonly slice: Slice;
  readonly outage: StorageOutage;
}

/** Calls of one ticket to the outside: each becomes one event, whether it succeeds, throws or is not answered. */
export class TicketCalls {
  readonly #host: CallsHost;
  readonly #waits: RetryWaits;
  #over = false;

  constructor(host: CallsHost) {
    this.#host = host;
    this.#waits = new RetryWaits(host.ports.random);
  }

  /** The ticket is over: what is still under way says nothing of the storage of the next one. */
  end(): void {
    this.#over = true;
  }

  /** Resolves with what `call` gives, or with `failed` when it throws or does not answer in time. Never rejects. */
  async make(name: string, call: () => Promise<SessionEvent>, failed: (wait: number) => SessionEvent): Promise<SessionEvent> {
    const { slice, outage } = this.#host;
    slice.spend();
    const { promise: late, reject } = Promise.withResolvers<never>();
    const timer = setTimeout(() => reject(new Error("no answer in time")), CALL_MS);
    try {
      const event = await Promise.race([call(), late]);
      this.#waits.succeeded(name);
      if (!this.#over) outage.succeeded(name);
      return event;
    } catch (thrown) {
      if (!this.#over) outage.failed(name, failureOf(thrown).message);
      return failed(this.#waits.after(name, thrown));
    } finally {
      clearTimeout(timer);
    }
  }
}
