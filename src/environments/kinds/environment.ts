import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Access } from "../definition/access.ts";
import { didYouMean } from "../../config/nearest.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import { loggerOf } from "../../logging/logger.ts";
import { checkedRange, type RewardRange } from "../../metrics/interval.ts";
import { Parser } from "../../parsers/parser.ts";
import { Rubric } from "../../rubrics/rubric.ts";
import { RubricGroup } from "../../rubrics/rubric-group.ts";
import { type DatasetSource, firstExamples, rowSource } from "../definition/dataset-source.ts";
import { formatExamples, type RowSource } from "../definition/examples.ts";
import {
  evaluate,
  type EvaluateOptions,
  generate,
  type GenerateOptions,
  type GenerateOutputs,
  type ModelClient,
  runGroup,
  runRollout,
} from "../unit/generate.ts";
import {
  addHandler,
  type CleanupHandler,
  type HandlerOptions,
  handlersOf,
  runHandlers,
  type StopHandler,
  type TeardownHandler,
} from "../../rollouts/state/handlers.ts";
import { checkToolDef } from "./check-tool-def.ts";
import { type CallEvents, type ModelCallOptions, watched } from "./model-call.ts";
import { notInBatches } from "../hosted/not-in-batches.ts";
import { mergeSamplingArgs } from "../hosted/traits.ts";
import { makeDataset } from "../definition/make-dataset.ts";
import type { WatchedCall } from "../unit/call-waits.ts";
import type { Playable, RolloutContext, StateRequest } from "../unit/playable.ts";
import { rowTool } from "../../rollouts/rows/row.ts";
import { applySettings, boolean, integer, number, orNull, type Settings, text } from "../definition/setting.ts";
import { createState } from "../../rollouts/state/state.ts";
import type { Message, ModelResponse, RolloutInput, State, Tool } from "../../rollouts/types.ts";
import { addUsage } from "../../rollouts/state/usage.ts";

export interface EnvironmentOptions {
  /** Where the examples come from: rows, or what reads them. Read when examples are asked for: once per run, when its inputs are pinned. */
  readonly dataset?: DatasetSource | null;
  /** What is evaluated, where that is not `dataset`. One of the two must be there. */
  readonly evalDataset?: DatasetSource | null;
  readonly systemPrompt?: string | null;
  /** Messages between the system prompt and the question. */
  readonly fewShot?: readonly Message[];
  readonly parser?: Parser;
  readonly rubric?: Rubric;
  /** Further rubrics by name, by which rollouts that are there can be scored again (`npx edgewise rescore --rubric NAME`). */
  readonly rubrics?: Readonly<Record<string, Rubric>>;
  /** Over `{n: 1, extra_body: {}}`, under the run's own. */
  readonly samplingArgs?: JsonObject;
  readonly toolDefs?: readonly Tool[];
  /** Tokens kept of a turn, where the server gives token ids; null = all (default). */
  readonly maxSeqLen?: number | null;
  /** False: rewards are 0 and there are no metrics. Default true. */
  readonly scoreRollouts?: boolean;
  /** A rollout passes when its reward reaches this (pass@k); default 0.5. */
  readonly passThreshold?: number;
  /** Lowest and highest reward that a rollout can have, where the rubric's own range is not it. */
  readonly rewardRange?: RewardRange;
}

const log = loggerOf("environment");

/** Data set, interaction and scoring of one evaluation. Subclasses say how a rollout goes. */
export abstract class Environment implements Playable {
  /** Filled in by the loader. */
  id = "";
  version = "";
  args: JsonObject = {};
  /** What the data set is called that its loader was given; null where it was given none, or an upload. */
  datasetName: string | null = null;
  /** Tasks that the data set has in all, where who reads it has counted them by the time of its last example: what is in no run is told. Null = nobody counted. */
  datasetSize: number | null = null;
  readonly parser: Parser;
  systemPrompt: string | null;
  readonly fewShot: readonly Message[];
  passThreshold: number;
  /** What it asks for beyond models and data: a run that does not allow it is refused. */
  access: readonly Access[] = [];
  maxSeqLen: number | null;
  /** Examples open at once in a whole run; null = as many as its requests need. */
  concurrency: number | null = null;
  scoreRollouts: boolean;
  /** Whether all that a rollout needs is in its state, so that it can be gone on with from there between two turns. Only who plays turns can say so. */
  resumable = false;
  readonly samplingArgs: JsonObject;
  /** What models are told of the tools, unless an example says otherwise (`info.tool_defs`). */
  toolDefs: readonly Tool[];
  readonly #dataset: RowSource | null;
  readonly #evalDataset: RowSource | null;
  readonly #contexts = new WeakMap<State, RolloutContext>();
  readonly #rewardRange: RewardRange | null;
  readonly #offered: ReadonlyMap<string, Rubric>;
  /** Scored by after the environment's own, or the chosen one. */
  readonly #added: Rubric[] = [];
  #rubric: Rubric;

  /** Throws a `TypeError` without a data set, and for tools in OpenAI's nested form. */
  constructor(options: EnvironmentOptions) {
    const { dataset = null, evalDataset = null } = options;
    if (dataset === null && evalDataset === null)
      throw new TypeError("an environment needs a dataset or an evalDataset; where it has none of its own, the argument `dataset` has to name one");
    this.#dataset = dataset === null ? null : rowSource(dataset);
    this.#evalDataset = evalDataset === null ? null : rowSource(evalDataset);
    this.#rubric = options.rubric ?? new Rubric();
    this.#offered = new Map(Object.entries(options.rubrics ?? {}));
    this.parser = options.parser ?? new Parser();
    this.systemPrompt = options.systemPrompt ?? null;
    this.fewShot = options.fewShot ?? [];
    this.passThreshold = options.passThreshold ?? 0.5;
    this.#rewardRange = options.rewardRange === undefined ? null : checkedRange(options.rewardRange);
    this.maxSeqLen = options.maxSeqLen ?? null;
    this.scoreRollouts = options.scoreRollouts ?? true;
    this.samplingArgs = { n: 1, extra_body: {}, ...options.samplingArgs };
    this.toolDefs = options.toolDefs ?? [];
    for (const tool of this.toolDefs) checkToolDef(tool);
    const other = this.#rubric.parser;
    if (options.rubric !== undefined && other.constructor !== this.parser.constructor) {
      log.warning("the rubric finds answers by another parser than the environment", {
        rubric: other.constructor.name,
        environment: this.parser.constructor.name,
      });
    }
  }

  /** Plays one rollout on `state`. Rejects only when cancelled; every other end is in the state. */
  abstract rollout(state: State, context: RolloutContext): Promise<State>;

  get rubric(): Rubric {
    return this.#rubric;
  }

  /** Scores by `rubric` too, after what is there (monitors among it). */
  addRubric(rubric: Rubric): void {
    this.#added.push(rubric);
    this.#rubric = new RubricGroup([this.#rubric, rubric]);
  }

  /** Names of the rubrics that it offers beside its own. */
  get rubricNames(): readonly string[] {
    return [...this.#offered.keys()];
  }

  /** Scores by the rubric that it offers under `name` in place of its own; what was added stays. Throws `invalid_request` for a name that it does not offer. */
  chooseRubric(name: string): void {
    const chosen = this.#offered.get(name);
    if (chosen === undefined) {
      const offers = this.#offered.size === 0 ? "none" : this.rubricNames.join(", ");
      throw new EdgewiseError(
        "invalid_request",
        `environment ${this.id} offers no rubric ${JSON.stringify(name)}${didYouMean(name, this.rubricNames)}; it offers ${offers}`,
      );
    }
    this.#rubric = this.#added.reduce<Rubric>((all, added) => new RubricGroup([all, added]), chosen);
  }

  /** What rewards can be: intervals keep within it. Rewards seen outside of it widen it. */
  get rewardRange(): RewardRange {
    return this.#rewardRange ?? this.#rubric.rewardRange;
  }

  get hasGroupRewards(): boolean {
    return this.#rubric.hasGroupRewards;
  }

  /** Every metric a row will carry, in order. */
  metricNames(): string[] {
    return this.scoreRollouts ? this.#rubric.metricNames() : [];
  }

  /** Why these settings cannot be scored; null when they can. */
  scoringProblem(independent: boolean): Failure | null {
    if (!independent || !this.hasGroupRewards) return null;
    const names = this.#rubric.groupRewardNames().join(", ");
    const message = `${this.id} scores the rollouts of an example together (${names}), which independent scoring does not allow`;
    return { code: "environment_failed", message, hint: "leave out --independent-scoring (independent_scoring: false)" };
  }

  /** Why requests of its rollouts cannot go out in batches; null where each asks the model under evaluation once. Only who plays turns can say so. */
  batchProblem(): Failure | null {
    return notInBatches(this.id, "plays its rollouts in a way of its own");
  }

  /** The run's sampling arguments over the environment's, shallowly: a run's `extra_body` replaces the environment's. Its own `max_tokens` stands where the run's is null. */
  mergeSamplingArgs(run: JsonObject): JsonObject {
    return mergeSamplingArgs(this, run);
  }

  // Examples

  /**
   * The first `count` examples that an evaluation runs (below 1 = all), read as they are asked for: of the evaluation data set,
   * else of the other. Throws `dataset_unreadable`.
   */
  examples(count: number): AsyncIterable<RolloutInput> {
    return this.#format(this.#evalDataset ?? this.#dataset, count);
  }

  /** Like `examples`, of the data set for training. */
  trainingExamples(count: number): AsyncIterable<RolloutInput> {
    return this.#format(this.#dataset ?? this.#evalDataset, count);
  }

  /** The first `n` examples of the data set (below 1 = all), of all of them in the order that `seed` gives. Throws `dataset_unreadable`. */
  async getDataset(n = -1, seed: number | null = null): Promise<RolloutInput[]> {
    if (this.#dataset === null) log.warning("there is no training data set; the evaluation data set is used");
    return await firstExamples((count) => this.trainingExamples(count), n, seed);
  }

  /** Like `getDataset`, of the data set for evaluations. */
  async getEvalDataset(n = -1, seed: number | null = null): Promise<RolloutInput[]> {
    if (this.#evalDataset === null) log.warning("there is no evaluation data set; the training data set is used");
    return await firstExamples((count) => this.examples(count), n, seed);
  }

  /** Rows for a data set out of what an evaluation gave: the rows without what only a report reads. */
  static makeDataset = makeDataset;

  #format(rows: RowSource | null, count: number): AsyncIterable<RolloutInput> {
    const format = { systemPrompt: this.systemPrompt, fewShot: this.fewShot, task: this.id === "" ? "default" : this.id };
    return formatExamples((rows ?? nothing)(count), count, format);
  }

  /** The tools that every rollout has, as rows show them; null where there are none or they differ. Examples may bring their own. */
  sharedTools(): JsonObject[] | null {
    return this.toolDefs.length === 0 ? null : this.toolDefs.map(rowTool);
  }

  // Rollouts

  /** A fresh state for one rollout on a copy of `input`. */
  initState(input: RolloutInput, { client, model, sampling_args, now }: StateRequest): State {
    return createState(input, { client, model, samplingArgs: this.mergeSamplingArgs(sampling_args), tools: this.toolDefs, now });
  }

  /**
   * Asks the model for the next message, under the rollout's own signal, and adds the usage to the state. Subclasses may ask it for
   * more than the loop does. Rejects with a `RolloutError`, or an `OverlongPromptError`.
   */
  async getModelResponse(state: State, prompt: readonly Message[], options: ModelCallOptions = {}): Promise<ModelResponse> {
    const { client = state.client, model = state.model, tools = state.tool_defs, samplingArgs: sampling_args = state.sampling_args } = options;
    if (client === null) throw new Error("this state has no client to call a model with");
    const response = await this.calling(state, (events) => {
      // Another model that an environment asks answers for itself.
      const own = options.client === undefined ? { onAnswer: () => this.answerBegins(state), visibly: this.watchesAnswers } : {};
      return client.getResponse({ prompt, model, sampling_args, tools, state, signal: this.signalOf(state), ...events, ...own });
    });
    state.usage = addUsage(state.usage, response.usage, response.cached !== true && options.client === undefined);
    return response;
  }

  /** Makes a model call of this rollout, which tells what it says of itself: waiting is not the rollout's own time. */
  protected calling<T>(state: State, ask: (events: CallEvents) => Promise<T>): Promise<T> {
    return watched(this.callMade(state), () => this.callBegins(state), ask);
  }

  /** A model call of this rollout is about to be made; null where nobody counts the rollout's time. */
  protected callMade(_state: State): WatchedCall | null {
    return null;
  }

  /** A model call of this rollout holds its permit. */
  protected callBegins(_state: State): void {}

  /** The model under evaluation answers a call of this rollout. */
  protected answerBegins(_state: State): void {}

  /** Whether it makes a difference that a model has begun to answer. */
  protected get watchesAnswers(): boolean {
    return false;
  }

  /** Ends what a rollout waits for when the rollout is ended from outside; null outside of a rollout. */
  signalOf(state: State): AbortSignal | null {
    return this.#contexts.get(state)?.signal ?? null;
  }

  /** For subclasses that play rollouts: who `getModelResponse` and `signalOf` answer to. */
  protected enter(state: State, context: RolloutContext): void {
    this.#contexts.set(state, context);
  }

  /** Whether a stop condition holds, asked in their order; the first that does is noted as `stop_condition`. */
  async isCompleted(state: State): Promise<boolean> {
    for (const { name, run } of handlersOf(this, "stop")) {
      const holds = run(state);
      // Most answer at once, and are asked before every turn.
      if (!(typeof holds === "boolean" ? holds : await holds)) continue;
      state.stop_condition = name;
      return true;
    }
    return false;
  }

  /** Plays and scores one rollout by itself. */
  async runRollout(input: RolloutInput, client: ModelClient, model: string, options: GenerateOptions = {}): Promise<State> {
    return await runRollout(this, input, client, model, options);
  }

  /** Plays `inputs`, rollouts of one example, side by side and scores them together. */
  async runGroup(inputs: readonly RolloutInput[], client: ModelClient, model: string, options: GenerateOptions = {}): Promise<State[]> {
    return await runGroup(this, inputs, client, model, options);
  }

  /** Plays and scores `inputs`; those of one `example_id` are one group. Rows come in the order of the inputs. */
  async generate(inputs: readonly RolloutInput[], client: ModelClient, model: string, options: GenerateOptions = {}): Promise<GenerateOutputs> {
    return await generate(this, inputs, client, model, options);
  }

  /** `generate` over the first `numExamples` examples for evaluation, `rolloutsPerExample` times each. */
  async evaluate(client: ModelClient, model: string, options: EvaluateOptions = {}): Promise<GenerateOutputs> {
    return await evaluate(this, client, model, options);
  }

  // Handlers: the plain form of `@stop`, `@cleanup` and `@teardown`

  /** Adds a stop condition; one of the same name is replaced. */
  onStop(name: string, check: StopHandler, options: HandlerOptions = {}): void {
    addHandler(this, "stop", name, check, options);
  }

  /** Adds what is done when a rollout has ended or was cancelled, before it is rendered and scored. */
  onCleanup(name: string, run: CleanupHandler, options: HandlerOptions = {}): void {
    addHandler(this, "cleanup", name, run, options);
  }

  /** Adds what is done when the environment is no longer needed. */
  onTeardown(name: string, run: TeardownHandler, options: HandlerOptions = {}): void {
    addHandler(this, "teardown", name, run, options);
  }

  /** Lets go of what rubric and environment hold. Whoever loaded the environment calls it, once. */
  async teardown(): Promise<void> {
    try {
      await this.#rubric.teardown();
    } finally {
      await runHandlers(this, "teardown");
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.teardown();
  }

  // Settings

  /** Options that may be set after loading, by their serialised names. Subclasses return these and their own. */
  settings(): Settings {
    return {
      system_prompt: orNull(
        text((value) => {
          this.systemPrompt = value;
        }),
        () => {
          this.systemPrompt = null;
        },
      ),
      pass_threshold: number((value) => {
        this.passThreshold = value;
      }),
      max_seq_len: orNull(
        integer((value) => this.setMaxSeqLen(value)),
        () => this.setMaxSeqLen(null),
      ),
      score_rollouts: boolean((value) => this.setScoreRollouts(value)),
      concurrency: integer((value) => this.setConcurrency(value)),
    };
  }

  /** Sets options by name (`{"max_turns": 20}`). Throws `invalid_request` for one that this class does not take, listing those it takes. */
  setKwargs(values: JsonObject): void {
    applySettings(`environment ${this.id === "" ? this.constructor.name : this.id}`, this.settings(), values);
  }

  setMaxSeqLen(maxSeqLen: number | null): void {
    this.maxSeqLen = maxSeqLen;
  }

  /** Throws a `TypeError` below 1. */
  setConcurrency(concurrency: number): void {
    if (!Number.isSafeInteger(concurrency) || concurrency < 1) throw new TypeError(`is ${concurrency}, not at least 1`);
    this.concurrency = concurrency;
  }

  setScoreRollouts(scoreRollouts: boolean): void {
    this.scoreRollouts = scoreRollouts;
  }
}

const nothing: RowSource = async function* () {};
