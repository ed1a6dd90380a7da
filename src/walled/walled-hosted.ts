import { onAbort } from "../clients/transport/on-abort.ts";
import { thrownOf } from "../environment-protocol/crossed-error.ts";
import type { HostedEnvironment } from "../environments/hosted/hosted-environment.ts";
import { type EnvironmentTraits, scoringProblem } from "../environments/hosted/traits.ts";
import type { PlayedUnit, PlayOptions } from "../environments/unit/play-unit.ts";
import type { ScoreStoredOptions } from "../environments/unit/score-stored.ts";
import type { KeptRollout, Stored } from "../environments/unit/stored-rollout.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { RolloutInput } from "../rollouts/types.ts";
import { believedExample } from "./believed-example.ts";
import type { Conversation } from "./conversation.ts";
import { playOrder, scoreOrder } from "./orders.ts";
import { PlayedRollouts } from "./played-rollouts.ts";
import { ScoredRows } from "./scored-rows.ts";
import type { UnitLine, WalledUnit } from "./walled-unit.ts";

/** A conversation with the environment loaded. */
export interface Opened {
  readonly conversation: Conversation;
  readonly traits: EnvironmentTraits;
}
type Open = (onEnd: () => void) => Promise<Opened>;

/** An environment behind a wall, as an executor works with it. A channel that broke is opened anew by whoever asks next. */
export class WalledHosted implements HostedEnvironment {
  #traits: EnvironmentTraits;
  readonly #open: Open;
  #current: Promise<Opened> | null = null;
  #isOver = false;
  #size: number | null = null;

  private constructor(open: Open, traits: EnvironmentTraits) {
    this.#open = open;
    this.#traits = traits;
  }

  get traits(): EnvironmentTraits {
    return this.#traits;
  }

  /** Takes the equal traits of another copy in place of its own: kept states name a tool by being one of the traits'. */
  adopt(traits: EnvironmentTraits): void {
    this.#traits = traits;
  }

  /** Rejects as the loader does. */
  static async open(open: Open): Promise<WalledHosted> {
    const lost: { now: boolean; tell: () => void } = { now: false, tell: () => undefined };
    const first = await open(() => {
      lost.now = true;
      lost.tell();
    });
    const hosted = new WalledHosted(open, first.traits);
    lost.tell = () => hosted.#lose();
    if (!lost.now) hosted.#current = Promise.resolve(first);
    return hosted;
  }

  #lose(): void {
    this.#current = null;
  }

  /** Whether its channel is there, or being opened. */
  get isOpen(): boolean {
    return this.#current !== null;
  }

  /** Has it opened, where it is not. Rejects as the loader does. */
  async ready(): Promise<void> {
    await this.#opened();
  }

  #opened(): Promise<Opened> {
    if (this.#isOver) throw new EdgewiseError("internal", "the environment was torn down");
    if (this.#current === null) {
      const opening = this.#open(() => {
        if (this.#current === opening) this.#lose();
      });
      this.#current = opening;
      opening.catch(() => {
        if (this.#current === opening) this.#lose();
      });
    }
    return this.#current;
  }

  async *examples(count: number): AsyncGenerator<RolloutInput> {
    const { conversation } = await this.#opened();
    const read = conversation.newRead();
    let given = 0;
    let isOver = false;
    try {
      for (let first = true; ; first = false) {
        const page = await conversation.page(first ? { type: "read", count } : { type: "read_next" }, read);
        isOver = page.done || page.error !== undefined;
        this.#size = page.size;
        for (const row of page.rows) {
          yield believedExample(row, given, this.traits.id);
          if (++given === count) return;
        }
        if (page.error !== undefined) throw this.#readFailure(thrownOf(page.error));
        if (page.done) return;
        if (page.rows.length === 0)
          throw new EdgewiseError("environment_failed", `environment ${this.traits.id} gave a page without examples, and more to come`);
      }
    } finally {
      if (!isOver) conversation.endRead(read);
    }
  }

  async datasetSize(): Promise<number | null> {
    return this.#size;
  }

  #readFailure(thrown: Error): Error {
    const codes: readonly string[] = ["dataset_unreadable", "environment_failed", "invalid_request", "missing_key"];
    if (!(thrown instanceof EdgewiseError) || codes.includes(thrown.code)) return thrown;
    return new EdgewiseError("environment_failed", `environment ${this.traits.id} gave no examples: ${thrown.message}`, { cause: thrown });
  }

  async play(input: RolloutInput, indices: readonly number[], options: PlayOptions): Promise<PlayedUnit> {
    const problem = scoringProblem(this.traits, options.independent);
    if (problem !== null) return { states: null, fatal: problem, aborted: false };
    if (options.signal.aborted) return { states: null, fatal: null, aborted: true };
    const of = { traits: this.traits, input, indices, options };
    return await this.#unit(
      (line) => new PlayedRollouts(line, of),
      (conversation, unit) => playOrder(of, unit, (signal) => conversation.signal(signal, unit)),
      options.signal,
    );
  }

  async scoreStored(input: RolloutInput, rows: readonly KeptRollout[], options: ScoreStoredOptions): Promise<readonly Stored[] | null> {
    if (options.signal.aborted) return null;
    const of = { traits: this.traits, input, rows, options };
    return await this.#unit(
      (line) => new ScoredRows(line, of),
      (conversation, unit) => scoreOrder(of, unit, (signal) => conversation.signal(signal, unit)),
      options.signal,
    );
  }

  async #unit<Outcome>(
    make: (line: UnitLine) => WalledUnit<Outcome>,
    order: (conversation: Conversation, unit: number) => { readonly message: object; readonly characters: number },
    signal: AbortSignal,
  ): Promise<Outcome> {
    const { conversation } = await this.#opened();
    let number = 0;
    const unit = conversation.begin(make, (own) => {
      number = own;
      return order(conversation, own);
    });
    let stopWaiting = (): void => undefined;
    const letGo = onAbort(signal, () => {
      stopWaiting = conversation.expectEnd(unit);
    });
    try {
      return await unit.outcome;
    } finally {
      letGo();
      stopWaiting();
      conversation.finish(unit, number);
    }
  }

  async teardown(): Promise<void> {
    const current = this.#current;
    this.#isOver = true;
    if (current === null) return;
    const { conversation } = await current;
    if (conversation.ended !== null) return;
    try {
      await conversation.ask({ type: "close" }, "closed");
    } finally {
      conversation.end({ code: "environment_failed", message: "it was torn down" });
    }
  }
}
