import type { ToEngine } from "../environment-protocol/to-engine.ts";
import type { EnvironmentTraits } from "../environments/hosted/traits.ts";
import { mergeSamplingArgs } from "../environments/hosted/traits.ts";
import type { ScoreStoredOptions } from "../environments/unit/score-stored.ts";
import { type KeptRollout, type Stored, storedOf } from "../environments/unit/stored-rollout.ts";
import type { RolloutErrorCode } from "../errors/codes.ts";
import { rolloutFailure } from "../rollouts/failure.ts";
import type { RolloutInput } from "../rollouts/types.ts";
import { applyScores } from "./believed-scores.ts";
import { NotBelieved } from "./believed-state.ts";
import { type UnitLine, WalledUnit } from "./walled-unit.ts";

export interface ScoredOf {
  readonly traits: EnvironmentTraits;
  readonly input: RolloutInput;
  readonly rows: readonly KeptRollout[];
  readonly options: ScoreStoredOptions;
}

/** Rows of one example that are scored behind the wall. */
export class ScoredRows extends WalledUnit<readonly Stored[] | null> {
  readonly #of: ScoredOf;
  readonly #stored: ReadonlyMap<number, Stored>;
  readonly #scored = new Set<number>();
  readonly #bad = new Map<number, string>();

  /** Throws for rows that are none. */
  constructor(line: UnitLine, of: ScoredOf) {
    const { input, rows, options, traits } = of;
    const { client, model, stateColumns, rowOnly, forgets, countsAnswers } = options;
    super(line, {
      client,
      model,
      exampleId: input.example_id,
      rollouts: rows.length,
      attempts: 1,
      scoringTurn: options.scoringTurn,
      deadlineMs: options.deadlineMs,
    });
    this.#of = of;
    const how = {
      ...{ client, model, samplingArgs: mergeSamplingArgs(traits, options.sampling_args) },
      ...(rowOnly === undefined ? {} : { rowOnly }),
      ...(forgets === undefined ? {} : { forgets }),
      ...(countsAnswers === undefined ? {} : { countsAnswers }),
    };
    this.#stored = new Map(rows.map((kept) => [kept.index, storedOf(input, kept, stateColumns, how)]));
  }

  protected override said(message: ToEngine): void {
    if (message.type === "rescored") {
      const stored = this.#stored.get(message.rollout);
      if (stored === undefined || this.#scored.has(message.rollout)) return;
      try {
        applyScores(stored, message.scores, { columns: this.#of.options.stateColumns, wasRefused: this.wasRefused, standIns: this.standIns });
        this.#scored.add(message.rollout);
      } catch (thrown) {
        if (!(thrown instanceof NotBelieved)) throw thrown;
        this.#bad.set(message.rollout, thrown.message);
      }
    } else if (message.type === "scored_rows") {
      if (this.#of.options.signal.aborted) return this.cut();
      if (message.aborted) return this.broken("scorer_error", "it gave the scoring up, which nobody had asked for");
      this.#give("scorer_error", "it said that the rows are scored, and not what this one is worth");
    } else this.broken("scorer_error", `it sent ${message.type} for rows that are scored`);
  }

  override cut(): void {
    this.resolve(null);
  }

  protected override giveUp(code: RolloutErrorCode, problem: string): void {
    if (this.#of.options.signal.aborted) return this.cut();
    this.#scored.clear();
    this.#give(code, problem);
  }

  #give(code: RolloutErrorCode, problem: string): void {
    const { rows, traits } = this.#of;
    for (const [index, stored] of this.#stored) {
      if (this.#scored.has(index)) continue;
      const why = this.#bad.has(index) ? `the scores that it gave of a row: it ${this.#bad.get(index)}` : problem;
      // No score of the environment is there, and none of 0.
      Object.assign(stored.own, { reward: null, error: stored.own.error ?? rolloutFailure(code, `environment ${traits.id}: ${why}`) });
    }
    this.resolve(rows.map(({ index }) => this.#stored.get(index) as Stored));
  }
}
