import type { Permits } from "../../../src/clients/client.ts";
import { Gate } from "../../../src/clients/gate.ts";
import type { AttemptOutcome, RequestCost } from "../../../src/endpoint-limits/limit-kinds.ts";

/** Permits that read costs and outcomes, and keep them. */
export class ReadingGate implements Permits {
  readonly reads = true;
  readonly costs: (RequestCost | undefined)[] = [];
  readonly outcomes: (AttemptOutcome | undefined)[] = [];
  readonly #gate: Gate;
  /** Called when a permit is given, before its request goes out. */
  onPermit: () => void = () => undefined;

  constructor(limit = 4) {
    this.#gate = new Gate(limit);
  }

  get inFlight(): number {
    return this.#gate.inFlight;
  }

  get kinds(): readonly (AttemptOutcome["kind"] | undefined)[] {
    return this.outcomes.map((outcome) => outcome?.kind);
  }

  async enter(signal?: AbortSignal | null, cost?: RequestCost): Promise<void> {
    await this.#gate.enter(signal);
    this.onPermit();
    this.costs.push(cost === undefined ? undefined : asNow(cost));
  }

  leave(outcome?: AttemptOutcome): void {
    this.outcomes.push(outcome === undefined ? undefined : { ...outcome, cost: asNow(outcome.cost) });
    this.#gate.leave();
  }
}

/** What is expected is worked out when it is first asked for. */
const asNow = ({ input_tokens, output_tokens }: RequestCost): RequestCost => ({ input_tokens, output_tokens });
