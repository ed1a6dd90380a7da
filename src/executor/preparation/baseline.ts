import type { UnitRange } from "../../../durable-objects/run/protocol.ts";
import { drawnRanks } from "../../pinned-order.ts";
import type { BaselineScore, BaselineScores } from "../../../durable-objects/run/stopping/stopping-store.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError, failureOf } from "../../errors/result.ts";
import { resultLines } from "../../exports/result-lines.ts";
import { MAX_COMPARED_BYTES, MAX_COMPARED_EXAMPLES, MIB } from "../../limits.ts";
import { contentHash } from "../../metrics/comparison/example-content.ts";
import type { RewardRange } from "../../metrics/interval.ts";
import { exampleScore } from "../../metrics/sequential/example-score.ts";
import { summaryOfRow } from "../../metrics/row-summary.ts";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import type { ExecutorPorts } from "../ports.ts";

/** An example of the baseline: what it asks, and the sums of its attempts. */
interface Held {
  readonly content: number;
  sum: number;
  scored: number;
  failed: number;
}

const other = (message: string, hint: string): EdgewiseError => new EdgewiseError("not_comparable", message, { hint });

/**
 * What the run that a rule holds this one against scored, example by example: a few numbers for each are held, while the examples of this run are read. An
 * example is the same where its id, what it asks and its answer are.
 */
export class Baseline {
  readonly #runId: string;
  readonly #digest: string | null;
  readonly #examples: ReadonlyMap<number, Held>;
  readonly #range: RewardRange;
  readonly #pairs: boolean;
  readonly #missing: number[] = [];
  readonly #differing: number[] = [];
  readonly #scores: BaselineScore[] = [];

  private constructor(
    { run_id, dataset_digest }: NonNullable<RunConfig["stop_baseline"]>,
    examples: ReadonlyMap<number, Held>,
    range: RewardRange,
    pairs: boolean,
  ) {
    this.#runId = run_id;
    this.#digest = dataset_digest;
    this.#examples = examples;
    this.#range = range;
    this.#pairs = pairs;
  }

  /** Reads its rows; null where the run is held against none. Throws `not_comparable`, and `storage_unavailable` while they cannot be read. */
  static async of(
    { store, sleep }: Pick<ExecutorPorts, "store" | "sleep">,
    config: RunConfig,
    range: RewardRange,
    signal: AbortSignal,
  ): Promise<Baseline | null> {
    if (config.stop_baseline === undefined) return null;
    const { env_id, model, run_id } = config.stop_baseline;
    const key = outputKey(env_id, model, run_id, "results.jsonl");
    const lines = async (): Promise<ReadableStream<Uint8Array> | null> => {
      if (((await store.size(key)) ?? 0) > MAX_COMPARED_BYTES)
        throw other(`The baseline ${run_id} has more than ${MAX_COMPARED_BYTES / MIB} MiB of rows.`, "Name a smaller run as the baseline.");
      return await store.stream(key);
    };
    const stream = await lines().catch((thrown: unknown) => {
      if (thrown instanceof EdgewiseError) throw thrown;
      throw new EdgewiseError("storage_unavailable", `The baseline could not be read: ${failureOf(thrown).message}`, { cause: thrown });
    });
    if (stream === null) throw other(`The rows of the baseline ${run_id} are gone.`, "Name a run that is there as the baseline.");
    const examples = new Map<number, Held>();
    let whole = true;
    let rows = 0;
    for await (const { text } of resultLines(stream, 0)) {
      const { value } = readForeignRow(text);
      const { example_id } = value;
      if (typeof example_id !== "number") continue;
      const { reward, error } = summaryOfRow(value);
      const held = examples.get(example_id) ?? { content: contentHash(value) ?? Number.NaN, sum: 0, scored: 0, failed: 0 };
      if (error === null) {
        held.sum += reward;
        held.scored++;
        whole &&= reward === 0 || reward === 1;
      } else held.failed++;
      whole &&= held.scored + held.failed === 1;
      examples.set(example_id, held);
      if (examples.size > MAX_COMPARED_EXAMPLES)
        throw other(`The baseline ${run_id} has more than ${MAX_COMPARED_EXAMPLES} examples.`, "Name a smaller run as the baseline.");
      if (++rows % ROWS_A_TURN === 0) await sleep(0, signal);
    }
    return new Baseline(config.stop_baseline, examples, range, whole && config.rollouts_per_example === 1);
  }

  /** The next example of this run. */
  add(input: Pick<RolloutInput, "example_id" | "prompt" | "answer">): void {
    const held = this.#examples.get(input.example_id);
    if (held === undefined) {
      this.#missing.push(input.example_id);
      return;
    }
    if (held.content !== contentHash(input)) this.#differing.push(input.example_id);
    const attempts = held.scored + held.failed;
    const mean = held.scored === 0 ? 0 : held.sum / held.scored;
    const [least, most] = exampleScore(
      Array.from({ length: attempts }, (_, attempt) => (attempt < held.scored ? mean : null)),
      this.#range,
    );
    this.#scores.push(least === most ? least : [least, most]);
  }

  /**
   * Of all examples that were added, in the order in which they are pinned (`permuted`: parts that stand in an order of their own). Throws `not_comparable` where it has not each of them. `digest`: of their data, which is the baseline's
   * where that has the same: then environments may ask for it in other words in each rollout.
   */
  scores(digest: string, permuted: readonly UnitRange[], seed = 0): BaselineScores {
    const [first, ...more] = [...this.#missing, ...(digest === this.#digest ? [] : this.#differing)];
    if (first !== undefined)
      throw other(
        `The baseline ${this.#runId} is of other data: it has not ${more.length + 1} of the examples of this run (${[first, ...more.slice(0, 2)].join(", ")}${more.length > 2 ? ", …" : ""}), or asked something else there.`,
        "Name a run of the same data as the baseline, with at least as many examples, or fewer examples for this one.",
      );
    const scores = [...this.#scores];
    for (const part of permuted) {
      for (const [at, rank] of [...drawnRanks(part, seed)].entries()) scores[part.lo + at] = this.#scores[part.lo + rank] ?? [...this.#range];
    }
    return { scores, pairs: this.#pairs };
  }
}

const ROWS_A_TURN = 512;
