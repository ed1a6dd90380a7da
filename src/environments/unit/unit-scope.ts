import { aroundClient } from "../../clients/around-client.ts";
import type { Sleep } from "../../clients/client.ts";
import { SCORING_GRACE_MS } from "../../limits.ts";
import { timerOf } from "../../clients/transport/timer.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import { isRolloutErrorCode } from "../../rollouts/failure.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import type { Client } from "../../rollouts/types.ts";
import { UnitTime } from "./unit-time.ts";

/** What a rollout may still do after its unit was ended, before it is left to itself: let go of what it holds. */
const UNWIND_MS = 2_000;

export interface ScopeOptions {
  /** The executor's: aborted when it must stop. */
  readonly signal: AbortSignal;
  /** Aborted no later: what is not generated then never will be, while what is may be scored still. Absent = the same. */
  readonly generation?: AbortSignal | undefined;
  readonly deadlineMs: number | null;
  readonly sleep: Sleep;
  /** Unix milliseconds. */
  readonly now: () => number;
  /** Whether it is one rollout that runs: then none beside it has to be stopped when it is refused. */
  readonly alone: boolean;
}

/**
 * Ends everything that a unit has open, for one of three reasons: the executor stops, the unit is too old, a call was refused for good; or what it
 * generates alone. A unit of one rollout without a deadline has nothing of its own to end: its signals are the executor's.
 */
export class UnitScope {
  readonly #outer: AbortSignal;
  readonly #generation: AbortSignal;
  readonly #own: AbortController | null;
  readonly #letGo: readonly (() => void)[];
  readonly #rollouts = new Set<() => void>();
  readonly #scorings = new Set<() => void>();
  /** Scoring has its time limited, or none left: not only what is generated has ended. */
  #isOver = false;
  /** Null without a deadline, or where nothing is to be generated any more. */
  readonly #time: UnitTime | null;
  #fatal: Failure | null = null;

  constructor({ signal, generation = signal, deadlineMs, sleep, now, alone }: ScopeOptions) {
    this.#outer = signal;
    this.#generation = generation;
    this.#own = alone && deadlineMs === null ? null : new AbortController();
    const ended = onAbort(signal, () => this.#end(signal.reason));
    this.#letGo = generation === signal ? [ended] : [ended, onAbort(generation, () => this.#endRollouts(generation.reason))];
    if (signal.aborted) this.#end(signal.reason);
    else if (generation.aborted) this.#endRollouts(generation.reason);
    const late = (): void => this.#end(new EdgewiseError("timeout", `the unit was not done within ${Math.round((deadlineMs ?? 0) / 1_000)} s`));
    this.#time = deadlineMs === null || this.signal.aborted ? null : new UnitTime(deadlineMs, { now, timer: timerOf(sleep) }, late);
  }

  /** `client`, on whose first permit the time of the unit begins anew, and whose waiting calls let it stand still: that time is not the unit's own. */
  timed(client: Client): Client {
    const time = this.#time;
    if (time === null) return client;
    const permitted = (): void => {
      if (!this.signal.aborted) time.permitted();
    };
    return aroundClient(client, async (request, ask) => {
      const call = time.call();
      const onBegin = (): void => {
        call.permitted();
        permitted();
        request.onBegin?.();
      };
      const onWait = (waiting: boolean): void => {
        call.waits(waiting);
        request.onWait?.(waiting);
      };
      try {
        return await ask({ ...request, onBegin, onWait });
      } finally {
        call.over();
        permitted();
      }
    });
  }

  /** Of what it generates. */
  get signal(): AbortSignal {
    return this.#own?.signal ?? this.#generation;
  }

  get fatal(): Failure | null {
    return this.#fatal;
  }

  /** Whether the unit will have no rows: the executor stopped it. */
  get cancelled(): boolean {
    return this.#outer.aborted;
  }

  /** Whether rollouts that are not there will not come, though those that are may be scored. */
  get generatesNoMore(): boolean {
    return this.#generation.aborted;
  }

  /** The deadline as an error; null while it has not passed. */
  get lateness(): EdgewiseError | null {
    const { reason } = this.signal;
    return reason instanceof EdgewiseError && isRolloutErrorCode(reason.code) ? reason : null;
  }

  /** A refusal that every further call would meet: what is still open of this unit would only meet it too. */
  refuse(failure: Failure): void {
    this.#fatal ??= failure;
    if (this.#own !== null) this.#end(new Error(failure.message));
  }

  /** `work`, or a rejection with the scope's reason when the scope ended and `work` did not follow in time. */
  rollout<T>(work: Promise<T>): Promise<T> {
    return this.#bound(work, this.#rollouts, this.signal.aborted, () => UNWIND_MS);
  }

  /** The same with some grace after a deadline. The signal that `work` is given ends only when nobody waits for it any more. */
  scoring<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const graceMs = (): number => (this.lateness === null ? 0 : SCORING_GRACE_MS);
    if (this.#own === null) return this.#bound(work(this.#outer), this.#scorings, this.#isOver, graceMs);
    const given = new AbortController();
    return this.#bound(work(given.signal), this.#scorings, this.#isOver, graceMs, (reason) => given.abort(reason));
  }

  /** A turn of one of its rollouts is kept: whatever ends the unit now, no more than the next one is lost. Its time begins anew. */
  turned(): void {
    if (!this.signal.aborted) this.#time?.beginAnew();
  }

  /** To be called once; leaves no timer and no listener behind. */
  close(): void {
    for (const letGo of this.#letGo) letGo();
    this.#time?.end();
  }

  /** Nothing listens to the signal for this: a scope ends in one place, and tells what it bounds itself. */
  #bound<T>(
    work: Promise<T>,
    bounds: Set<() => void>,
    isOver: boolean,
    graceMs: () => number,
    giveUp: (reason: unknown) => void = () => undefined,
  ): Promise<T> {
    return new Promise((resolve, reject) => {
      let timer: ReturnType<typeof setTimeout> | undefined;
      const ended = (): void => {
        timer = setTimeout(() => {
          const { reason } = this.#outer.aborted ? this.#outer : this.signal;
          giveUp(reason);
          reject(reason);
        }, graceMs());
      };
      const settled = (): void => {
        if (timer !== undefined) clearTimeout(timer);
        bounds.delete(ended);
      };
      if (isOver) ended();
      else bounds.add(ended);
      work.then(
        (value) => {
          settled();
          resolve(value);
        },
        (thrown) => {
          settled();
          reject(thrown);
        },
      );
    });
  }

  #end(reason: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#endRollouts(reason);
    for (const ended of this.#scorings) ended();
    this.#scorings.clear();
  }

  #endRollouts(reason: unknown): void {
    if (this.#own?.signal.aborted !== true) this.#own?.abort(reason);
    for (const ended of this.#rollouts) ended();
    this.#rollouts.clear();
  }
}
