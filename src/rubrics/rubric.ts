import { InfraError, SandboxError } from "../errors/rollout-errors.ts";
import { failureOfRollout } from "../rollouts/failure.ts";
import { keepShares, sharesOf } from "../rollouts/rows/group-shares.ts";
import { runHandlers } from "../rollouts/state/handlers.ts";
import { hasSteps, isRowOnly } from "../rollouts/state/stored-state.ts";
import { marksOf, type Span } from "../rollouts/state/time-marks.ts";
import type { RolloutFailure, State } from "../rollouts/types.ts";
import { checkedRange, type RewardRange, sumOfRanges } from "../metrics/interval.ts";
import { Parser } from "../parsers/parser.ts";
import { type GroupRewardContext, type RegisteredReward, type RewardContext, type RewardEntry, registerReward, type Score } from "./reward-function.ts";

/** What a rubric made of one rollout. `failure` is set when a function failed; its metric is missing and `reward` is the rest. */
export interface Evaluation {
  reward: number;
  metrics: Record<string, number>;
  failure: RolloutFailure | null;
  /** Of a group of rubrics: what the first of them gave, which is credited to the steps; and the last, whose advantage is the rollout's. */
  firstReward?: number;
  lastReward?: number;
}

export interface ScoreOptions {
  /** Milliseconds; measures `timing.scoring_ms`. */
  readonly now: () => number;
  /** Handed to the functions; one that never aborts when left out. */
  readonly signal?: AbortSignal;
}

export interface RubricOptions<Objects extends object = object> {
  /** For the functions, in order (all 1 when left out); a weight inside an entry goes first. */
  readonly weights?: readonly number[];
  /** What the functions find as `parser`. Default: the plain `Parser`, whatever the environment's is, as in verifiers. */
  readonly parser?: Parser;
  /** Class objects: what the functions find in their context beside the rollout. */
  readonly objects?: Partial<Objects>;
  /** Lowest and highest reward; default: what the weights make of scores from 0 to 1. Intervals of the mean keep within it. */
  readonly rewardRange?: RewardRange;
}

/** What all calls of one scoring have in common. */
export interface Scoring {
  readonly signal: AbortSignal;
}

/**
 * Weighted reward functions. `reward` is the sum of score times weight, and every function, of weight 0 too,
 * is a metric under its name.
 *
 * A function that fails (throws, or returns something that is no finite number) gives the rollout the error `scorer_error`:
 * unlike verifiers, which counts it as a score of 0, so that a dead judge looks like a bad model. An error that the rollout
 * already has stays.
 *
 * `Objects` types what the functions find beside that: the class objects, `new Rubric<{ words: Set<string> }>([known], { objects:
 * { words } })` for a function `({ completion, words }) => …`, and columns of the data set, by their names. Handlers marked `@cleanup` run for each rollout once it is scored, those marked `@teardown`
 * when the environment ends.
 */
export class Rubric<Objects extends object = object> {
  readonly #functions: RegisteredReward[];
  readonly #rewardRange: RewardRange | null;
  #objects: Partial<Objects>;
  readonly parser: Parser;

  /** Throws a `RangeError` when there are more or fewer weights than functions, a `TypeError` for a function without a name. */
  constructor(functions: readonly RewardEntry<Objects>[] = [], options: RubricOptions<Objects> = {}) {
    const { weights, parser } = options;
    if (weights !== undefined && weights.length !== functions.length) {
      throw new RangeError(`a rubric with ${functions.length} functions has ${weights.length} weights`);
    }
    this.#functions = functions.map((entry, index) => registerReward(entry as RewardEntry, weights?.[index] ?? 1));
    this.parser = parser ?? new Parser();
    this.#rewardRange = options.rewardRange === undefined ? null : checkedRange(options.rewardRange);
    this.#objects = { ...options.objects };
  }

  /** Adds a function; a weight inside `entry` goes first. Throws a `TypeError` for one without a name. */
  addRewardFunc(entry: RewardEntry<Objects>, weight = 1): void {
    this.#functions.push(registerReward(entry as RewardEntry, weight));
  }

  /** Adds a function that is recorded and, unless it is given a weight, not rewarded. */
  addMetric(entry: RewardEntry<Objects>, weight = 0): void {
    this.addRewardFunc(entry, weight);
  }

  /** Makes `value` known to all functions under `name`; it hides data of the rollout with the same name. */
  addClassObject<Name extends keyof Objects>(name: Name, value: Objects[Name]): void {
    this.#objects = { ...this.#objects, [name]: value };
  }

  /** What `reward` can be: as declared, else by the weights for functions that score from 0 to 1. */
  get rewardRange(): RewardRange {
    return this.#rewardRange ?? sumOfRanges(this.#functions.map(({ weight }) => (weight < 0 ? [weight, 0] : [0, weight])));
  }

  /** In registration order; a name registered twice appears once. */
  metricNames(): string[] {
    return [...new Set(this.#functions.map(({ name }) => name))];
  }

  /** What each metric counts for in the reward; without those of which one number says nothing: functions that share a name. */
  rewardWeights(): Readonly<Record<string, number>> {
    return distinct(this.#functions.map(({ name, weight }) => [name, weight]));
  }

  /** Names of the functions that judge all rollouts of an example together. */
  groupRewardNames(): string[] {
    return this.#functions.filter(({ kind }) => kind === "group").map(({ name }) => name);
  }

  get hasGroupRewards(): boolean {
    return this.groupRewardNames().length > 0;
  }

  /**
   * Whether a rollout can be scored before the others of its example are there: no function judges them together, and no subclass has a way of
   * scoring of its own.
   */
  get scoresAlone(): boolean {
    const { evaluate } = Rubric.prototype;
    return !this.hasGroupRewards && this.hasUsualScoring && this.evaluate === evaluate;
  }

  /** Whether no subclass has put something else in the place of the two ways to score. */
  protected get hasUsualScoring(): boolean {
    const { scoreGroup, scoreRollout } = Rubric.prototype;
    return this.scoreGroup === scoreGroup && this.scoreRollout === scoreRollout;
  }

  /** Scores all rollouts of one example together and writes reward, metrics, advantage and times into their states. */
  async scoreGroup(states: readonly State[], options: ScoreOptions): Promise<void> {
    if (states.length === 0) return;
    const begin = options.now();
    const evaluations = await this.evaluate(states, scoringOf(options));
    const span = { start: begin, end: Math.max(begin, options.now()) };
    for (const [index, state] of states.entries()) settle(state, evaluations[index], span);
    this.creditGroup(states);
    for (const state of states) await this.#cleanUp(state);
  }

  /**
   * Says how much better than its group each rollout was, once all are scored; those without a score have no part in it. In a group of rubrics the
   * last one's word stands, and the steps have the first one's, since each rubric of verifiers writes both anew and leaves steps that have theirs.
   */
  creditGroup(states: readonly State[]): void {
    const scored = states.flatMap((state) => (state.reward === null ? [] : [{ state, ...sharesOf(state, state.reward) }]));
    const meanOf = (rewards: readonly number[]): number => rewards.reduce((sum, reward) => sum + reward, 0) / rewards.length;
    const first = meanOf(scored.map((each) => each.first));
    const last = meanOf(scored.map((each) => each.last));
    for (const { state, ...own } of scored) {
      state.advantage = own.last - last;
      for (const step of hasSteps(state) ? state.trajectory : []) {
        step.reward ??= own.first;
        step.advantage ??= own.first - first;
      }
    }
  }

  /** Scores one rollout by itself; there is no advantage without a group (`independent_scoring`), or it comes later (`creditGroup`). */
  async scoreRollout(state: State, options: ScoreOptions): Promise<void> {
    const group = this.groupRewardNames();
    if (group.length > 0) throw new TypeError(`a rubric with group reward functions (${group.join(", ")}) cannot score a rollout by itself`);
    const begin = options.now();
    const [evaluation] = await this.evaluate([state], scoringOf(options));
    settle(state, evaluation, { start: begin, end: Math.max(begin, options.now()) });
    await this.#cleanUp(state);
  }

  /** Runs the cleanup handlers for a rollout that has been scored. */
  async cleanup(state: State): Promise<void> {
    await runHandlers(this, "cleanup", state);
  }

  /** Runs the teardown handlers, when the environment ends. */
  async teardown(): Promise<void> {
    await runHandlers(this, "teardown");
  }

  /** What the functions find in their context beside the rollout. `state`: of the one that they score; null for those that judge a group. */
  protected objectsFor(_scoring: Scoring, _state: State | null): Partial<Objects> {
    return this.#objects;
  }

  /** Runs the functions one after another, each on all states at once. One evaluation per state, in their order. */
  async evaluate(states: readonly State[], scoring: Scoring): Promise<Evaluation[]> {
    const shared = { parser: this.parser, signal: scoring.signal };
    const evaluations = states.map((): Evaluation => ({ reward: 0, metrics: {}, failure: null }));
    const contexts = states.map((state) => {
      const objects = this.objectsFor(scoring, state);
      return isRowOnly(state) ? rowContextOf(state, { ...shared, ...objects }) : { ...columnsOf(state), ...contextOf(state, shared), ...objects };
    });
    const ofGroup = this.objectsFor(scoring, null);
    for (const reward of this.#functions) {
      const outcomes =
        reward.kind === "individual"
          ? await Promise.all(contexts.map((context) => callOne(reward, context)))
          : await callGroup(reward, Object.defineProperties(groupContextOf(states, shared), Object.getOwnPropertyDescriptors(ofGroup)) as GroupRewardContext);
      for (const [index, evaluation] of evaluations.entries()) {
        const outcome = outcomes[index];
        if (typeof outcome === "number") {
          evaluation.metrics[reward.name] = outcome;
          evaluation.reward += outcome * reward.weight;
        } else {
          evaluation.failure ??= failureOfRollout(outcome, "scorer_error");
        }
      }
    }
    return evaluations;
  }

  /** A handler that fails is the rollout's error, like a function that does. */
  async #cleanUp(state: State): Promise<void> {
    try {
      await this.cleanup(state);
    } catch (thrown) {
      state.error ??= failureOfRollout(explained("cleanup", thrown), "scorer_error");
    }
  }
}

/** Names that are there once, with their values. */
export function distinct(entries: readonly (readonly [string, number])[]): Readonly<Record<string, number>> {
  const names = entries.map(([name]) => name);
  return Object.fromEntries(entries.filter(([name]) => names.indexOf(name) === names.lastIndexOf(name)));
}

const scoringOf = ({ signal = new AbortController().signal }: ScoreOptions): Scoring => ({ signal });

/** What every function finds, whatever it scores. */
type Shared = Pick<RewardContext, "parser" | "signal">;

/** Columns of the data set beyond those that the context names itself. */
function columnsOf({ input }: State): Record<string, unknown> {
  const { prompt: _prompt, answer: _answer, info: _info, example_id: _id, ...columns } = input;
  return columns;
}

function contextOf(state: State, shared: Shared): RewardContext {
  return {
    prompt: state.prompt,
    completion: state.completion ?? [],
    answer: state.answer ?? "",
    task: state.task,
    info: state.info ?? {},
    state,
    ...shared,
  };
}

/** The same of a rollout of which there is its row alone: a column is looked up when a function asks for it, and one that is not there is a lack. */
function rowContextOf(state: State, given: Shared & object): RewardContext {
  const known = { prompt: state.prompt, completion: state.completion ?? [], task: state.task, state, ...given };
  const isGiven = (key: string | symbol): boolean => typeof key === "symbol" || Object.hasOwn(known, key);
  return new Proxy(known as unknown as RewardContext, {
    get: (target, key): unknown => (isGiven(key) ? Reflect.get(target, key) : state.input[String(key)]),
    // Whoever takes the rest of the columns takes those that are not there too.
    ownKeys: (target) => [...Reflect.ownKeys(target), ...Reflect.ownKeys(state.input)],
  });
}

function groupContextOf(states: readonly State[], shared: Shared): GroupRewardContext {
  return {
    prompts: states.map(({ prompt }) => prompt),
    completions: states.map(({ completion }) => completion ?? []),
    // Looked up when a function asks for them: rows may lack them.
    get answers() {
      return states.map(({ answer }) => answer ?? "");
    },
    tasks: states.map(({ task }) => task),
    get infos() {
      return states.map(({ info }) => info ?? {});
    },
    states,
    ...shared,
  };
}

/** A score, or the error instead of one. */
type Outcome = number | Error;

function checkedScore(name: string, score: Score): Outcome {
  if (typeof score === "boolean") return score ? 1 : 0;
  if (typeof score === "number" && Number.isFinite(score)) return score;
  return new TypeError(`${name} returned ${typeof score === "number" ? score : `a ${score === null ? "null" : typeof score}`} instead of a finite number`);
}

/** What failed around a function, as its sandbox, says nothing of the rollout: it keeps its code, and the rollout is run again. */
function explained(name: string, thrown: unknown): Error {
  const message = `${name}: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  return thrown instanceof InfraError ? new SandboxError(message, { cause: thrown }) : new Error(message, { cause: thrown });
}

async function callOne(reward: RegisteredReward & { kind: "individual" }, context: RewardContext): Promise<Outcome> {
  try {
    return checkedScore(reward.name, await reward.fn(context));
  } catch (thrown) {
    return explained(reward.name, thrown);
  }
}

async function callGroup(reward: RegisteredReward & { kind: "group" }, group: GroupRewardContext): Promise<Outcome[]> {
  try {
    const scores = await reward.fn(group);
    if (!Array.isArray(scores) || scores.length !== group.states.length) {
      throw new RangeError(`returned ${Array.isArray(scores) ? `${scores.length} scores` : typeof scores} for ${group.states.length} rollouts`);
    }
    return scores.map((score: Score) => checkedScore(reward.name, score));
  } catch (thrown) {
    return group.states.map(() => explained(reward.name, thrown));
  }
}

function settle(state: State, evaluation: Evaluation | undefined, span: Span): void {
  if (evaluation === undefined) throw new Error("a rubric returned fewer evaluations than states");
  // The sum of finite products can still leave the range of a double.
  const finite = Number.isFinite(evaluation.reward);
  state.reward = finite ? evaluation.reward : 0;
  state.metrics = evaluation.metrics;
  keepShares(state, { first: evaluation.firstReward ?? state.reward, last: evaluation.lastReward ?? state.reward });
  state.error ??=
    evaluation.failure ?? (finite ? null : failureOfRollout(new RangeError("the weighted sum of the scores is not a finite number"), "scorer_error"));
  marksOf(state).scoring = span;
  state.timing.scoring_ms = span.end - span.start;
  state.timing.total_ms += state.timing.scoring_ms;
}
