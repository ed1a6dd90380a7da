import { EdgewiseError } from "../../errors/result.ts";
import { loggerOf } from "../../logging/logger.ts";
import { drawnExamples } from "../definition/dataset-source.ts";
import type { RowSource } from "../definition/examples.ts";
import type { Environment } from "../kinds/environment.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { findAccumulationSteps } from "./accumulation-steps.ts";

const log = loggerOf("evaluation");

/** What draws a part of the samples, the same on every machine and in every run. */
const SUBSET_SEED = 0xc0ffee;

/** What a call of an evaluation may say. */
export interface EvaluationOptions {
  /** Samples drawn at random from all; -1 (default), 0 or as many as there are = all, in their order. */
  readonly length?: number;
  /** Samples under way at once in a whole run; absent = as many as its requests need, by likelihood 160. */
  readonly chunkSize?: number;
}

/**
 * One evaluation: samples, and how each is scored. Subclass one of `RolloutEvaluation`, `EncodingEvaluation`, `PerplexityEvaluation` and
 * `PerplexityComparisonEvaluation`. `environment` makes what runs: every evaluation is an environment.
 */
export abstract class Evaluation<Sample> {
  abstract readonly name: string;

  /** Number of samples. */
  abstract get length(): number;

  /** The sample at `index`, from 0. */
  abstract get(index: number): Sample | Promise<Sample>;

  /** The evaluation as an environment. Throws a `TypeError` for options that are none. */
  abstract environment(options?: EvaluationOptions): Environment;

  /** What stands before the names of its metrics where those of several evaluations are together. */
  prefix(): string {
    return `${this.name}_`;
  }

  /** All samples in their order. Override it where they are read from a stream, which `get` and `length` are not for. */
  async *samples(): AsyncGenerator<Sample> {
    for (let index = 0; index < this.length; index++) yield await this.get(index);
  }

  static findAccumulationSteps = findAccumulationSteps;

  /**
   * Rows for an environment: those of the samples, with the index of each in `info.index`, so that the inputs of a run say which were chosen. `rowOf` gives null for a sample
   * that is skipped. Throws `dataset_unreadable` where there is none.
   */
  protected rows(rowOf: (sample: Sample, index: number) => JsonObject | null, { length = -1 }: EvaluationOptions): RowSource {
    if (!Number.isSafeInteger(length)) throw new TypeError(`length is ${length}, not an integer`);
    const numbered = (): AsyncIterable<{ sample: Sample; index: number }> => withIndex(this.samples());
    const { name } = this;
    return async function* rows() {
      let none = true;
      let skipped = 0;
      try {
        for await (const { sample, index } of length > 0 ? drawnExamples(numbered, length, SUBSET_SEED) : numbered()) {
          none = false;
          const row = rowOf(sample, index);
          if (row === null) skipped += 1;
          else yield { ...row, info: { ...(row.info as JsonObject | undefined), index } };
        }
      } finally {
        if (skipped > 0) log.warning("samples that cannot be asked are left out", { evaluation: name, samples: skipped });
      }
      if (none) throw new EdgewiseError("dataset_unreadable", `evaluation ${name} has no samples`);
    };
  }
}

/** What `options` say of how it is run. */
export function ranAs<Made extends Environment>(environment: Made, { chunkSize }: EvaluationOptions): Made {
  if (chunkSize !== undefined) environment.setConcurrency(chunkSize);
  return environment;
}

async function* withIndex<Sample>(samples: AsyncIterable<Sample>): AsyncGenerator<{ sample: Sample; index: number }> {
  let index = 0;
  for await (const sample of samples) yield { sample, index: index++ };
}

/** The score of the one sample that a scoring function was given. Throws a `RangeError` where it gave another number of scores. */
export function onlyScore(scores: readonly number[]): number {
  const [score] = scores;
  if (score === undefined || scores.length !== 1) throw new RangeError(`score gave ${scores.length} scores for one sample`);
  return score;
}
