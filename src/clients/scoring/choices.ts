import { RequestFailed } from "../transport/request-failure.ts";
import { JointSignal } from "./joint-signal.ts";
import type { ScoringDriver } from "./scoring-driver.ts";

/** How a model is scored at a place, as a probe found out. */
export interface ScoringChoice {
  readonly driver: ScoringDriver;
  /** Whether a request may carry several texts. */
  readonly several: boolean;
}

/** So long a refusal holds for everybody: a run that ends by it asks once, and a server that was started anew is asked anew. */
const REFUSAL_MS = 15_000;

interface Probe {
  readonly joint: JointSignal;
  readonly work: Promise<ScoringChoice>;
}

/** What is known of the ways to score the models of one place; one object per place, shared by all who call it. */
export class ScoringChoices {
  readonly #now: () => number;
  readonly #known = new Map<string, ScoringChoice>();
  readonly #refused = new Map<string, { readonly failure: RequestFailed; readonly until: number }>();
  readonly #probes = new Map<string, Probe>();

  /** `now`: Unix milliseconds. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** The choice for `model`, found by `probe` where it is not known: one at a time, which ends when nobody waits for it. */
  async of(model: string, signal: AbortSignal | null, probe: (signal: AbortSignal) => Promise<ScoringChoice>): Promise<ScoringChoice> {
    const known = this.#known.get(model);
    if (known !== undefined) return known;
    const refused = this.#refused.get(model);
    if (refused !== undefined && refused.until > this.#now()) throw refused.failure;
    let current = this.#probes.get(model);
    if (current === undefined || current.joint.signal.aborted) {
      const joint = new JointSignal();
      current = { joint, work: this.#found(model, probe(joint.signal)) };
      this.#probes.set(model, current);
    }
    return await current.joint.join(signal, current.work);
  }

  async #found(model: string, work: Promise<ScoringChoice>): Promise<ScoringChoice> {
    try {
      const choice = await work;
      this.#known.set(model, choice);
      return choice;
    } catch (thrown) {
      if (thrown instanceof RequestFailed && thrown.failure.code === "prompt_logprobs_unsupported")
        this.#refused.set(model, { failure: thrown, until: this.#now() + REFUSAL_MS });
      throw thrown;
    } finally {
      this.#probes.delete(model);
    }
  }
}
