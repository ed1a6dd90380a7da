import type { Allowance, GivesBack, Grant, Holding } from "../../../durable-objects/run/protocol.ts";

/** `part` of what a grant allows of something; a part that is not nothing is at least one. */
const partOf = (whole: number, requests: number, granted: number): number =>
  requests <= 0 || granted <= 0 ? 0 : Math.min(whole, Math.max(1, Math.ceil((whole * requests) / granted)));

/**
 * What a grant lets be under way, less what its executor gives back: for another run, because the run has nothing more to begin, or since the run was
 * steered to less. Two steps, so that never more is under way in all than the run allows: first no more than so much is begun, and as less is under way
 * the Run is told. What the run is steered to have more is counted by the Run before it is heard of here.
 */
export class Holdings {
  /** As the Run lets it be, and the number of that. */
  #whole: Holding;
  #size: number;
  #allowed: Holding;
  #reached: Holding;

  constructor({ lanes, requests, generation, scoring, size = 0 }: Holding & Pick<Grant, "size">) {
    this.#whole = holdingOf(lanes, requests, generation, scoring);
    this.#size = size;
    this.#allowed = this.#whole;
    this.#reached = this.#whole;
  }

  /** What may be under way from now on. */
  get allowed(): Holding {
    return this.#allowed;
  }

  /** Requests of which it is known that no more are under way. */
  get requests(): number {
    return this.#reached.requests;
  }

  /** It is on its way to less than the Run lets it have. */
  get isFalling(): boolean {
    return this.#allowed.requests < this.#most;
  }

  /** The Run lets nothing begin: what is under way ends. */
  get isHeld(): boolean {
    return this.#whole.requests === 0;
  }

  /** Of what the Run lets it have, what is not told to be given back. */
  get #most(): number {
    return Math.min(this.#reached.requests, this.#whole.requests);
  }

  /**
   * The run was steered: another allowance counts, of which the executor carries `room` requests at most. What it was giving back by itself begins anew.
   * False for one that is known, or older than what is.
   */
  steer({ size, lanes, requests, generation, scoring }: Allowance, room: number): boolean {
    if (size <= this.#size) return false;
    const before = this.#reached;
    this.#size = size;
    this.#whole = holdingOf(lanes, requests, generation, scoring);
    // Judges of what is generated go on.
    this.#allowed = this.isHeld ? this.#whole : this.#of(Math.max(1, Math.min(requests, room)));
    // What is under way under the one before ends when it ends.
    this.#reached = holdingOf(
      Math.max(before.lanes, lanes),
      Math.max(before.requests, requests),
      generation === undefined ? undefined : Math.max(before.generation ?? before.requests, generation),
      scoring === undefined ? undefined : Math.max(before.scoring ?? scoring, scoring),
    );
    return true;
  }

  /** No more than so many requests from now on; false when that is no less than before. */
  narrow(requests: number): boolean {
    if (requests >= this.#allowed.requests) return false;
    this.#allowed = this.#of(Math.max(0, requests));
    return true;
  }

  /** No more than so many requests are under way, of the model and of judges, after a `narrow` or a `steer`: what they leave free is given back, step by step. */
  reach(requests: number, scoring = 0): void {
    const { lanes, ...before } = this.#reached;
    const { allowed } = this;
    const left = (held: number | undefined, underWay: number, least: number): number | undefined =>
      held === undefined ? undefined : Math.min(held, Math.max(underWay, least));
    this.#reached = holdingOf(
      lanes,
      Math.min(before.requests, Math.max(requests, allowed.requests)),
      left(before.generation, requests, allowed.generation ?? allowed.requests),
      left(before.scoring, scoring, allowed.scoring ?? 0),
    );
  }

  /** Gives back no more than is free already; false when that is all there was to give. */
  keep(): boolean {
    if (!this.isFalling) return false;
    this.#allowed = this.#of(this.#most);
    return true;
  }

  /** What the Run is told, with so many units open; nothing while that is the whole grant, as it was made. */
  told(open: number): GivesBack {
    if (this.#size === 0 && this.#reached.requests >= this.#whole.requests) return {};
    const { lanes, ...rest } = this.#reached;
    const holds = { lanes: Math.min(lanes, Math.max(this.#allowed.lanes, open)), ...rest };
    return { holds: this.#size === 0 ? holds : { ...holds, size: this.#size } };
  }

  #of(requests: number): Holding {
    const { lanes, requests: granted, generation, scoring } = this.#whole;
    return holdingOf(
      partOf(lanes, requests, granted),
      requests,
      generation === undefined ? undefined : Math.min(generation, requests),
      scoring === undefined ? undefined : partOf(scoring, requests, granted),
    );
  }
}

const holdingOf = (lanes: number, requests: number, generation: number | undefined, scoring: number | undefined): Holding => ({
  lanes,
  requests,
  ...(generation === undefined ? {} : { generation }),
  ...(scoring === undefined ? {} : { scoring }),
});
