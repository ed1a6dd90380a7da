import { sha256Hex } from "../../config/sha256.ts";
import { sourceKey } from "../../../r2-layout/keys.ts";
import { SegmentBuffer } from "../../../r2-layout/segment.ts";
import type { Grant, RescoredSource } from "../../../durable-objects/run/protocol.ts";
import type { RescoredFrom } from "../../config/plan/rescored-from.ts";
import type { HostedEnvironment } from "../../environments/hosted/hosted-environment.ts";
import type { KeptRollout } from "../../environments/unit/stored-rollout.ts";
import { maskJson } from "../../errors/masking.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { isScorerError } from "../../errors/codes.ts";
import { SEGMENT_ROWS } from "../../limits.ts";
import { addUnit, emptyTotals, type Totals } from "../../metrics/totals.ts";
import { numberedLine } from "../../rollouts/rows/foreign-row.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import type { AdoptedExample } from "../preparation/folder-rows.ts";
import type { ExecutorPorts } from "../ports.ts";
import { checkPrompts, exampleInRows, lineOfExample, ROWS_INSTEAD } from "./example-of-rows.ts";
import { lineWithSource } from "./source-place.ts";
import { keptRow, sourceExamples, sourceMismatch } from "./source-rows.ts";
import { tryScorer } from "./trial.ts";

/** An example with the line that is pinned of it, which names the place of its rows. */
export interface PinnedExample {
  readonly input: RolloutInput;
  readonly line: string;
}

/** Examples of so many tasks are tried at most: each task may have a scorer of its own. */
const MOST_TASKS = 64;

interface Joined {
  readonly input: RolloutInput;
  readonly rows: readonly KeptRollout[];
}

/**
 * The examples of a run that scores another's rollouts again: those that have rows there, in their order, each with its rows, which are copied into the
 * run's own part of storage. Holds one object of rows and the examples in it.
 */
export class RescoredExamples {
  readonly #ports: ExecutorPorts;
  readonly #grant: Grant;
  readonly #environment: HostedEnvironment;
  readonly #source: RescoredFrom;
  readonly #signal: AbortSignal;
  readonly #tried = new Set<string>();
  #totals: Totals = emptyTotals();
  #examples = 0;
  #bytes = 0;
  #scored = 0;

  constructor(ports: ExecutorPorts, grant: Grant, environment: HostedEnvironment, source: RescoredFrom, signal: AbortSignal) {
    this.#ports = ports;
    this.#grant = grant;
    this.#environment = environment;
    this.#source = source;
    this.#signal = signal;
  }

  /** `data`: the environment's examples, ascending. Throws `source_mismatch`, `scorer_lacks_state` and `nothing_to_score`, and as `data` does. */
  async *examples(data: AsyncIterable<RolloutInput>): AsyncGenerator<PinnedExample> {
    const { store } = this.#ports;
    const { run_id } = this.#grant.config;
    const buffer = new SegmentBuffer(Number.POSITIVE_INFINITY);
    let waiting: RolloutInput[] = [];
    const taken = async (): Promise<PinnedExample[]> => {
      const contents = buffer.take();
      if (contents === null) return [];
      const object = await sha256Hex(contents.bytes);
      await store.create(sourceKey(run_id, object), contents.bytes);
      this.#bytes += contents.bytes.byteLength;
      const pinned = waiting.flatMap((input, at): PinnedExample[] => {
        const place = contents.units[at];
        return place === undefined ? [] : [{ input, line: lineWithSource(input, { object, offset: place.offset, length: place.length }) }];
      });
      waiting = [];
      return pinned;
    };
    for await (const { input, rows } of this.#joined(data)) {
      await this.#look(input, rows);
      const lines = rows.map(({ line }) => line);
      if (!buffer.add(this.#examples, lines)) {
        yield* await taken();
        buffer.add(this.#examples, lines);
      }
      waiting.push(input);
      this.#examples++;
      if (this.#examples % SEGMENT_ROWS === 0) await this.#ports.sleep(0, this.#signal);
    }
    yield* await taken();
    if (this.#examples === 0) throw nothingToScore("The run has no row that could be scored again.");
    if (this.#scored === 0) throw nothingToScore("No rollout of the run ended in a scorer error, and only those were to be scored again.");
  }

  /** What the rows had before, once all have been read. */
  get facts(): RescoredSource {
    const { rollouts, reward_sum, metrics } = this.#totals;
    const averages = Object.entries(metrics).map(([name, { sum, count }]) => [name, sum / count] as const);
    return { rollouts, avg_reward: rollouts === 0 ? 0 : reward_sum / rollouts, avg_metrics: Object.fromEntries(averages), bytes: this.#bytes };
  }

  async *#joined(data: AsyncIterable<RolloutInput>): AsyncGenerator<Joined> {
    const { store } = this.#ports;
    const { config } = this.#grant;
    const join = this.#source.examples === "data" ? new DataJoin(data) : null;
    try {
      for await (const example of sourceExamples(store, config, this.#source)) {
        this.#signal.throwIfAborted();
        const input = join === null ? exampleInRows(example, this.#environment.traits.id) : await join.of(example);
        yield { input, rows: this.#rowsOf(example, join === null ? null : input) };
      }
    } finally {
      await join?.close();
    }
  }

  /** In the order of attempts, as they are kept. */
  #rowsOf({ id, rows }: AdoptedExample, input: RolloutInput | null): KeptRollout[] {
    const { rollouts_per_example: r } = this.#grant.config;
    if (rows.size < r)
      throw sourceMismatch(
        `Example ${id} has rows of ${rows.size} of its ${r} rollouts: what is missing has nothing to score.`,
        "Go on with that run first (npx edgewise eval run … -R), then score it again.",
      );
    return [...rows]
      .sort(([a], [b]) => a - b)
      .map(([index, row]) => {
        if (typeof row.value.reward !== "number") throw sourceMismatch(`A row of example ${id} has no reward: it is no rollout.`);
        const line = numberedLine(row, index);
        return keptRow(maskJson(input === null ? line : lineOfExample(line, row.value, input)));
      });
  }

  /** Counts what the rows had, and tries the scorer on the first rollouts of each task. */
  async #look(input: RolloutInput, rows: readonly KeptRollout[]): Promise<void> {
    this.#totals = addUnit(
      this.#totals,
      rows.map(({ summary }) => summary),
    );
    const owed = rowsToScore(this.#source, rows);
    this.#scored += owed.length;
    const { task } = input;
    if (this.#tried.has(task) || this.#tried.size >= MOST_TASKS || !owed.some(({ summary: { error } }) => error === null || isScorerError(error))) return;
    this.#tried.add(task);
    await tryScorer(this.#ports, this.#grant.config, this.#source, this.#environment, input, rows, this.#signal);
  }
}

/** Those of an example that are to be scored. */
export const rowsToScore = ({ errors_only }: RescoredFrom, rows: readonly KeptRollout[]): readonly KeptRollout[] =>
  errors_only === true ? rows.filter(({ summary: { error } }) => error !== null && isScorerError(error)) : rows;

const nothingToScore = (message: string): EdgewiseError =>
  new EdgewiseError("nothing_to_score", message, { hint: "Leave out --errors-only (errors_only) to score all rollouts, or name another run." });

/** Looks up examples in the data by ascending id, each with the prompt that its rows have. */
class DataJoin {
  readonly #data: AsyncIterator<RolloutInput>;
  #open: RolloutInput | null = null;

  constructor(data: AsyncIterable<RolloutInput>) {
    this.#data = data[Symbol.asyncIterator]();
  }

  /** Throws `source_mismatch`. */
  async of(example: AdoptedExample): Promise<RolloutInput> {
    while (this.#open === null || this.#open.example_id < example.id) {
      const next = await this.#data.next();
      if (next.done === true) throw this.#missing(example);
      this.#open = next.value;
    }
    if (this.#open.example_id !== example.id) throw this.#missing(example);
    checkPrompts(example, this.#open);
    return this.#open;
  }

  async close(): Promise<void> {
    await this.#data.return?.(undefined);
  }

  #missing({ id }: AdoptedExample): EdgewiseError {
    return sourceMismatch(`The data set has no example ${id}, of which there are rows.`, ROWS_INSTEAD);
  }
}
