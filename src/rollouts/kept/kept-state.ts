import { maskJson } from "../../errors/masking.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { MAX_KEPT_STATE_BYTES } from "../../limits.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { isScorerError } from "../../errors/codes.ts";
import { type GroupShares, keepShares, sharesOf } from "../rows/group-shares.ts";
import { askedTimesOf, keepAskedTimes } from "../state/asked-questions.ts";
import { cacheUsageOf, keepCacheUsage } from "../state/cache-meter.ts";
import { type Judgements, judgementsOf, keepJudgements } from "../state/judgements.ts";
import { judgeUsageOf, keepJudgeUsage } from "../state/judge-usage.ts";
import type { CacheUsage } from "../../metrics/cache-usage.ts";
import type { JudgeUsage } from "../../metrics/rollout-summary.ts";
import { givenRowOf } from "../rows/given-row.ts";
import { exceeds } from "../rows/row.ts";
import { stateOn } from "../state/state.ts";
import { marksOf, type Span } from "../state/time-marks.ts";
import type { Client, Message, RolloutInput, State, Tool } from "../types.ts";
import { changesOf, type InputChanges, withChanges } from "./input-changes.ts";
import { JsonCheck, type JsonProblem, keyPath, TOO_LARGE } from "./json-problem.ts";
import { keepStep, type KeptStep, readStep } from "./kept-steps.ts";
import { MessagePool, messagesAt, type Runs } from "./message-pool.ts";

/** Version of the text; one of another is refused by name. */
export const KEPT_STATE_VERSION = 1;

/** What of a state both have who keep it and who go on with it: the example as it is pinned, and the environment's tools. */
export interface KeptBase {
  readonly input: RolloutInput;
  readonly tools: readonly Tool[];
  /** Digest of the environment that scores; absent = not known. */
  readonly code?: string | undefined;
}

/** Where a rollout that is not finished stands. */
export interface KeptTurn {
  /** What is to be asked next; null where the environment has not said its part yet. */
  readonly prompt: readonly Message[] | null;
  /** Time that the rollout has taken so far, in milliseconds. */
  readonly elapsed_ms: number;
  /** Attempts at it that failed before this one; absent = none. */
  readonly retries?: number;
}

/** The text of a kept state, one line of JSON; or why there is none. */
export type Keeping = { readonly ok: true; readonly text: string } | ({ readonly ok: false } & JsonProblem);

export interface OpenedState {
  readonly state: State;
  /** Null for a rollout that is generated. */
  readonly turn: KeptTurn | null;
  /** It has its scores, and is not to be scored again. */
  readonly isScored: boolean;
}

/** What an environment's code does not change any more, and is written only when it must be. */
interface Said {
  readonly prompt: readonly Message[];
  readonly completion: readonly Message[] | null;
  readonly final_env_response: readonly Message[] | null;
  readonly trajectory: readonly State["trajectory"][number][];
}

interface KeptText {
  readonly v: number;
  readonly input: InputChanges;
  /** Every key of the state but those that have a place of their own here. */
  readonly state: JsonObject;
  readonly messages: readonly Message[];
  readonly steps: readonly KeptStep[];
  readonly completion: Runs | null;
  readonly final_env_response: Runs | null;
  readonly marks: { readonly setup: Span | null; readonly scoring: Span | null; readonly model: readonly Span[]; readonly env: readonly Span[] };
  readonly judges: JudgeUsage | null;
  /** How often it has asked each of its questions; absent = it keeps no count of that. */
  readonly asked?: Readonly<Record<string, number>>;
  /** What its judges were shown and said, in a run whose rows have that; absent = in others, where none was asked, and in texts of before. */
  readonly judged?: Judgements;
  /** How its calls were answered, in a run that reads the cache; absent = in none, and in texts of before. */
  readonly cache?: CacheUsage;
  readonly turn: (Omit<KeptTurn, "prompt"> & { readonly prompt: Runs | null }) | null;
  /** Of a rollout that was scored by itself: what its group is compared by, and the code that scored it. Absent = it has no scores yet. */
  readonly scored?: GroupShares & { readonly by: string | null };
}

class NotKept extends Error {
  readonly found: JsonProblem;

  constructor(found: JsonProblem) {
    super(found.problem);
    this.found = found;
  }
}

/** Keys of a state that are kept apart from the others. `prompt` and its like are the input's. */
const APART: ReadonlySet<string> = new Set([
  "input",
  "prompt",
  "answer",
  "task",
  "info",
  "example_id",
  "trajectory",
  "completion",
  "final_env_response",
  "tool_defs",
]);

/** States that came from elsewhere, and cannot be kept here as they were there. */
const unkept = new WeakMap<State, JsonProblem>();
export const markUnkept = (state: State, problem: JsonProblem): void => void unkept.set(state, problem);

/** Of a rollout that came with its row nothing is known that could be gone on with, or scored. */
const GIVEN: JsonProblem = { path: "state", problem: "is what its row says, and no more" };

const isShared = (own: readonly Tool[], shared: readonly Tool[]): boolean => own.length === shared.length && own.every((tool, index) => tool === shared[index]);

/**
 * A state at one moment. What environments change at any time (their own keys, the input) is copied at once; the conversation, of
 * which they only add more, is written when the text is asked for. So a snapshot costs what the environment's own keys do.
 */
export class StateSnapshot {
  readonly #check = new JsonCheck();
  /** The keys that have no place of their own, as one JSON text without its braces. */
  #fields = "";
  #said: Said | null = null;
  #rest = "";
  readonly #turn: KeptTurn | null;
  #problem: JsonProblem | null = null;
  #keeping: Keeping | null = null;

  /** `turn` is where the rollout stands; null = it is generated, "scored" = it has its scores too. Never throws: what is wrong the text says. */
  constructor(state: State, base: KeptBase, at: KeptTurn | "scored" | null = null) {
    const turn = at === "scored" ? null : at;
    this.#turn = turn;
    this.#problem = unkept.get(state) ?? (givenRowOf(state) === null ? null : GIVEN);
    if (this.#problem !== null) return;
    try {
      this.#said = saidIn(state);
      this.#rest = this.#copy(state, base) + (at === "scored" ? scoresOf(state, base) : "");
    } catch (thrown) {
      this.#problem ??= thrown instanceof NotKept ? thrown.found : { path: "state", problem: `cannot be read (${String(thrown)})` };
    }
  }

  #copy(state: State, base: KeptBase): string {
    const { setup, scoring, model, env } = marksOf(state);
    const changes = changesOf(base.input, state.input);
    this.#refuse(this.#check.problemOf(changes.set, "state.input"));
    // Without a prototype, so that a key may have any name.
    const fields = Object.create(null) as Record<string, unknown>;
    for (const key of Object.keys(state)) if (!APART.has(key)) this.#addField(fields, key, state[key]);
    if (!isShared(state.tool_defs, base.tools)) this.#addField(fields, "tool_defs", state.tool_defs);
    this.#fields = this.#check.textOf(fields).slice(1, -1);
    return `"input":${this.#check.textOf(changes)},"marks":${JSON.stringify({ setup, scoring, model, env })},"judges":${JSON.stringify(judgeUsageOf(state))}${askedIn(state)}${cacheText(state)}${judgedIn(state)}`;
  }

  #addField(fields: Record<string, unknown>, key: string, value: unknown): void {
    if (value === undefined) return;
    const found = this.#check.problemOf(value, "");
    if (found !== null) this.#refuse(found === TOO_LARGE ? found : this.#check.problemOf(value, `state${keyPath(key)}`));
    fields[key] = value;
  }

  #refuse(found: JsonProblem | null): void {
    if (found !== null) throw new NotKept(found);
  }

  /** What keeps it from being kept, as far as was looked: the text says more. */
  get problem(): JsonProblem | null {
    return this.#problem;
  }

  /** Characters that it holds beside the state itself: what was copied, and the text once it was asked for. */
  get size(): number {
    const copied = this.#fields.length + this.#rest.length;
    return copied + (this.#keeping?.ok === true ? this.#keeping.text.length : 0);
  }

  /** The same answer each time. */
  text(): Keeping {
    this.#keeping ??= this.#write();
    return this.#keeping;
  }

  #write(): Keeping {
    const said = this.#said;
    if (this.#problem !== null || said === null) return { ok: false, ...(this.#problem ?? TOO_LARGE) };
    const pool = new MessagePool(said.prompt);
    const steps: KeptStep[] = [];
    for (const [index, step] of said.trajectory.entries()) {
      const kept = keepStep(step, pool);
      const found = this.#check.problemOf(kept.step, `state.trajectory[${index}]`);
      if (found !== null) return { ok: false, ...found };
      steps.push(kept);
    }
    const runsOf = (list: readonly Message[] | null): Runs | null => (list === null ? null : pool.runsOf(list));
    const runs = {
      completion: runsOf(said.completion),
      final_env_response: runsOf(said.final_env_response),
      turn: this.#turn === null ? null : { ...this.#turn, prompt: runsOf(this.#turn.prompt) },
    };
    for (const [index, message] of pool.added.entries()) {
      const found = this.#check.problemOf(message, `state.trajectory: message ${said.prompt.length + index}`);
      if (found !== null) return { ok: false, ...found };
    }
    const rest = this.#check.textOf({ messages: pool.added, steps, ...runs }).slice(1, -1);
    const text = maskJson(`{"v":${KEPT_STATE_VERSION},${this.#rest},"state":{${this.#fields}},${rest}}`);
    return exceeds(text, MAX_KEPT_STATE_BYTES) ? { ok: false, ...TOO_LARGE } : { ok: true, text };
  }
}

function saidIn(state: State): Said {
  const list = <T>(value: readonly T[], path: string): T[] => {
    if (!Array.isArray(value) || value.some((each) => typeof each !== "object" || each === null)) throw new NotKept({ path, problem: "is no list of objects" });
    return [...value];
  };
  const messages = (value: readonly Message[] | null, path: string): Message[] | null => (value === null || value === undefined ? null : list(value, path));
  return {
    prompt: list(state.prompt, "state.prompt"),
    completion: messages(state.completion, "state.completion"),
    final_env_response: messages(state.final_env_response, "state.final_env_response"),
    trajectory: list(state.trajectory, "state.trajectory"),
  };
}

const scoresOf = (state: State, { code }: KeptBase): string => `,"scored":${JSON.stringify({ ...sharesOf(state, state.reward ?? 0), by: code ?? null })}`;

function judgedIn(state: State): string {
  const judgements = judgementsOf(state);
  return judgements === null ? "" : `,"judged":${JSON.stringify(judgements)}`;
}

function askedIn(state: State): string {
  const asked = askedTimesOf(state);
  return asked === null ? "" : `,"asked":${JSON.stringify(asked)}`;
}

/** The text of a rollout that is generated, to be scored from it: at once or later, here or elsewhere. Never throws. */
export const keepState = (state: State, base: KeptBase): Keeping => new StateSnapshot(state, base).text();

/**
 * The state again, as it was when it was kept, with `client` for whoever asks a model. Messages that were one object are one. Throws
 * `stored_version_unknown` for another version, `storage_damaged` for what is no kept state.
 */
export function openKeptState(text: string, base: KeptBase, client: Client | null): OpenedState {
  const kept = parsed(text);
  try {
    return opened(kept, base, client);
  } catch (cause) {
    throw damaged(cause);
  }
}

const damaged = (cause: unknown): EdgewiseError => new EdgewiseError("storage_damaged", "the stored state of a rollout cannot be read", { cause });

function parsed(text: string): KeptText {
  let kept: unknown;
  try {
    kept = JSON.parse(text);
  } catch (cause) {
    throw damaged(cause);
  }
  const version: unknown = typeof kept === "object" && kept !== null && "v" in kept ? kept.v : undefined;
  if (version === KEPT_STATE_VERSION) return kept as KeptText;
  if (typeof version !== "number") throw damaged(new TypeError("it has no version"));
  throw new EdgewiseError("stored_version_unknown", `the stored state of a rollout has version ${version}; this version knows ${KEPT_STATE_VERSION}`);
}

function opened(kept: KeptText, base: KeptBase, client: Client | null): OpenedState {
  const { model, sampling_args: samplingArgs, trajectory_id } = kept.state as unknown as Pick<State, "model" | "sampling_args" | "trajectory_id">;
  const state = stateOn(withChanges(base.input, kept.input), { client, model, samplingArgs, tools: base.tools, now: 0 }, trajectory_id);
  if (kept.state.tool_defs === undefined) state.tool_defs = [...base.tools];
  const pool = [...state.prompt, ...kept.messages];
  const listOf = (runs: Runs | null): Message[] | null => (runs === null ? null : messagesAt(pool, runs));
  for (const key of Object.keys(state)) if (!APART.has(key) && !Object.hasOwn(kept.state, key)) Reflect.deleteProperty(state, key);
  for (const [key, value] of Object.entries(kept.state)) Object.defineProperty(state, key, { value, enumerable: true, writable: true, configurable: true });
  state.trajectory = kept.steps.map((step) => readStep(step, pool));
  state.completion = listOf(kept.completion);
  state.final_env_response = listOf(kept.final_env_response);
  const marks = marksOf(state);
  marks.setup = kept.marks.setup;
  marks.scoring = kept.marks.scoring;
  marks.model.push(...kept.marks.model);
  marks.env.push(...kept.marks.env);
  if (kept.judges !== null) keepJudgeUsage(state, kept.judges);
  if (kept.asked !== undefined) keepAskedTimes(state, kept.asked);
  if (kept.judged !== undefined) keepJudgements(state, kept.judged);
  if (kept.cache !== undefined) keepCacheUsage(state, kept.cache);
  const { scored } = kept;
  const isScored = scored !== undefined && scored.by === (base.code ?? null);
  if (isScored) keepShares(state, scored);
  else if (scored !== undefined) unscore(state);
  return { state, turn: kept.turn === null ? null : { ...kept.turn, prompt: listOf(kept.turn.prompt) }, isScored };
}

function cacheText(state: State): string {
  const usage = cacheUsageOf(state);
  return usage === null ? "" : `,"cache":${JSON.stringify(usage)}`;
}

/** Scores of other code are made anew. */
function unscore(state: State): void {
  const { timing } = state;
  state.timing = { ...timing, scoring_ms: 0, total_ms: timing.total_ms - timing.scoring_ms };
  Object.assign(state, { reward: null, metrics: null, advantage: null, error: isScorerError(state.error?.code ?? "") ? null : state.error });
}
