import { OverlongPromptError } from "../../clients/overlong-prompt-error.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import { loggerOf } from "../../logging/logger.ts";
import { notInBatches } from "../hosted/not-in-batches.ts";
import { Environment, type EnvironmentOptions } from "./environment.ts";
import { failureOfRollout, isRolloutErrorCode } from "../../rollouts/failure.ts";
import { runHandlers } from "../../rollouts/state/handlers.ts";
import type { KeptTurn } from "../../rollouts/kept/kept-state.ts";
import { isLeft, NotResumed, RolloutLeft } from "../../rollouts/kept/left.ts";
import { normaliseMessages } from "../../rollouts/messages.ts";
import { turnMonitor } from "./monitors.ts";
import type { RolloutContext } from "../unit/playable.ts";
import { integer, number, orNull, type Settings } from "../definition/setting.ts";
import { stepTokens } from "../../rollouts/state/step-tokens.ts";
import { CallWaits, type WatchedCall } from "../unit/call-waits.ts";
import { TimeLimit } from "../unit/time-limit.ts";
import { marksOf } from "../../rollouts/state/time-marks.ts";
import type { Message, ModelResponse, State, TrajectoryStep } from "../../rollouts/types.ts";

export interface MultiTurnOptions extends EnvironmentOptions {
  /** Model calls per rollout; below 1 = no limit (default). */
  readonly maxTurns?: number;
  /** Tokens a rollout may write in all; below 1 = no limit (default). */
  readonly maxTotalCompletionTokens?: number;
  /** Time of one rollout from its first permit on, without scoring; null = no limit (default). */
  readonly timeoutSeconds?: number | null;
  /** False where a rollout needs what is not in its state, as a connection; then it is never gone on with elsewhere. Default true. */
  readonly resumable?: boolean;
}

/** What an environment answers: messages, or a text, as data sets write them. */
export type EnvResponse = string | readonly Message[];

/** What one rollout of the loop works under. */
interface Play {
  readonly context: RolloutContext;
  readonly limit: TimeLimit;
  /** When the model call under way got its permit, the last one where it had several, before that when it was made, in Unix milliseconds. */
  calledAt: number;
  /** Whether the model has begun to answer, in any turn. */
  answered: boolean;
  /** Milliseconds since its start in which nobody played it, or all that it asked waited to be sent. */
  awayMs: number;
  /** Since when it waits so, in Unix milliseconds; null while it does not. */
  stillAt: number | null;
  readonly waits: CallWaits;
  /** What is to be asked next, where that was kept. */
  prompt: readonly Message[] | null;
  /** Somebody keeps its turns; with `leaving` it stops at this one. */
  kept: boolean;
  leaving: boolean;
}

const log = loggerOf("rollout");

/** Milliseconds that the rollout has taken, without the time in which nobody played it or its calls waited to be sent. */
const elapsedOf = ({ timing }: State, { awayMs, stillAt }: Play, now: number): number => (stillAt ?? now) - timing.start_time * 1_000 - awayMs;

const SILENT = {
  hint: "look whether the server answers, or give it longer; an answer that comes whole (with tools, or where the server does not stream) begins when it is there",
};

/**
 * A conversation of model turns and environment answers, in verifiers' exact order. Stop conditions are asked before every
 * turn: `has_error` first, then by priority and name, subclasses' own among them.
 */
export abstract class MultiTurnEnv extends Environment {
  maxTurns: number;
  maxTotalCompletionTokens: number;
  timeoutSeconds: number | null;
  readonly #plays = new WeakMap<State, Play>();

  constructor(options: MultiTurnOptions) {
    super(options);
    this.maxTurns = options.maxTurns ?? -1;
    this.maxTotalCompletionTokens = options.maxTotalCompletionTokens ?? -1;
    this.timeoutSeconds = options.timeoutSeconds ?? null;
    this.resumable = options.resumable ?? true;
    this.addRubric(turnMonitor());
    this.onStop("has_error", (state) => state.error !== null, { priority: 100 });
    this.onStop("timeout_reached", (state) => state.timed_out, { priority: 90 });
    this.onStop("has_final_env_response", (state) => state.final_env_response !== null);
    this.onStop("max_total_completion_tokens_reached", (state) => {
      return this.maxTotalCompletionTokens > 0 && (state.usage?.output_tokens ?? 0) >= this.maxTotalCompletionTokens;
    });
    this.onStop("max_turns_reached", (state) => this.maxTurns > 0 && state.trajectory.length >= this.maxTurns);
    this.onStop("prompt_too_long", (state) => state.prompt_too_long);
  }

  /** What the environment says to the last assistant message. Setting `state.final_env_response` ends the rollout. */
  abstract envResponse(messages: readonly Message[], state: State): EnvResponse | Promise<EnvResponse>;

  /** Prepares the state before the first turn. */
  async setupState(_state: State): Promise<void> {}

  /**
   * Takes up again what the state names (a sandbox by its id), in place of `setupState`, in a rollout that another instance began and left
   * between two turns. What it throws has the rollout begin anew.
   */
  async resumeState(_state: State): Promise<void> {}

  /** Lets go of what the state names without ending it, in place of the cleanup handlers: the rollout goes on elsewhere. */
  async leaveState(_state: State): Promise<void> {}

  /** Messages of the next model call: the prompt, or the last call's with its answer and the environment's. */
  async getPromptMessages(state: State): Promise<Message[]> {
    const last = state.trajectory.at(-1);
    if (last === undefined) return state.prompt;
    const sent = [...last.prompt, ...last.completion];
    return [...sent, ...normaliseMessages(await this.envResponse(sent, state))];
  }

  async addTrajectoryStep(state: State, step: TrajectoryStep): Promise<void> {
    state.trajectory.push(step);
  }

  /** Everything after the prompt. */
  renderCompletion(state: State): Message[] {
    const last = state.trajectory.at(-1);
    if (last === undefined) return [];
    return [...last.prompt, ...last.completion, ...(state.final_env_response ?? [])].slice(state.prompt.length);
  }

  override batchProblem(): Failure | null {
    if (this.maxTurns === 1) return null;
    return notInBatches(this.id, this.maxTurns > 0 ? `has rollouts of up to ${this.maxTurns} turns` : "has rollouts of any number of turns");
  }

  override settings(): Settings {
    return {
      ...super.settings(),
      max_turns: integer((value) => {
        this.maxTurns = value;
      }),
      max_total_completion_tokens: integer((value) => this.setMaxTotalCompletionTokens(value)),
      timeout_seconds: orNull(
        number((value) => {
          this.timeoutSeconds = value;
        }),
        () => {
          this.timeoutSeconds = null;
        },
      ),
    };
  }

  setMaxTotalCompletionTokens(tokens: number): void {
    this.maxTotalCompletionTokens = tokens;
  }

  override async rollout(state: State, context: RolloutContext): Promise<State> {
    const play = this.#playOf(state, context);
    const { limit } = play;
    this.#plays.set(state, play);
    this.enter(state, { ...context, signal: limit.signal });
    try {
      if (context.from === undefined) await this.#begin(state, play);
      else await this.#goOn(state, play, context.from);
      while (!(await this.#stops(state, play))) {
        this.#keep(state, play, null);
        await this.#guarded(state, play, () => this.#turn(state, play));
        if (play.leaving) throw new RolloutLeft();
      }
    } catch (thrown) {
      // A cancellation: what the environment holds is let go, and whoever cancelled hears of it.
      await (play.kept && isLeft(thrown) ? this.leaveState(state) : this.#cleanUp(state, context)).catch(() => undefined);
      throw thrown;
    } finally {
      limit.close();
    }
    await this.#cleanUp(state, context);
    await this.#noted(state, context, async () => {
      state.completion = this.renderCompletion(state);
    });
    return state;
  }

  #playOf(state: State, context: RolloutContext): Play {
    const { from, signal, sleep, now } = context;
    const elapsed = from?.elapsed_ms ?? 0;
    const ms = this.timeoutSeconds === null || this.timeoutSeconds <= 0 ? null : Math.max(0, this.timeoutSeconds * 1_000 - elapsed);
    const isResumed = from !== undefined;
    const limit = new TimeLimit(ms, signal, { now, sleep });
    const stand = (still: boolean): void => {
      const at = now();
      if (still) {
        play.calledAt = at;
        play.stillAt = at;
      } else {
        play.awayMs += at - (play.stillAt ?? at);
        play.stillAt = null;
      }
      limit.stand(still);
    };
    const play: Play = {
      context,
      limit,
      calledAt: 0,
      answered: isResumed,
      awayMs: isResumed ? now() - state.timing.start_time * 1_000 - elapsed : 0,
      stillAt: null,
      waits: new CallWaits(stand, () => {
        play.calledAt = now();
      }),
      prompt: from?.prompt ?? null,
      kept: isResumed && context.onTurn !== undefined,
      leaving: false,
    };
    return play;
  }

  async #begin(state: State, play: Play): Promise<void> {
    const { now } = play.context;
    const begin = now();
    await this.#guarded(state, play, () => this.setupState(state));
    marksOf(state).setup = { start: begin, end: now() };
  }

  /** The turn that was to come when it was kept; its stop conditions had been asked. */
  async #goOn(state: State, play: Play, { prompt }: KeptTurn): Promise<void> {
    try {
      await this.resumeState(state);
    } catch (cause) {
      play.context.signal.throwIfAborted();
      throw new NotResumed("a rollout cannot be gone on with", { cause });
    }
    play.prompt = prompt;
    await this.#guarded(state, play, () => this.#turn(state, play));
    if (play.leaving) throw new RolloutLeft();
  }

  /** Says where the rollout stands: between an answer and what the environment says to it, or before a call. */
  #keep(state: State, play: Play, prompt: readonly Message[] | null): void {
    const { onTurn, now } = play.context;
    if (!this.resumable || onTurn === undefined || state.trajectory.length === 0) return;
    play.kept = true;
    if (onTurn(state, { prompt, elapsed_ms: elapsedOf(state, play, now()) }) === "leave") play.leaving = true;
  }

  /** Time spent waiting for permits is the run's, not the rollout's. */
  protected override callBegins(state: State): void {
    const play = this.#plays.get(state);
    if (play === undefined) return;
    const now = play.context.now();
    if (state.trajectory.length === 0) {
      state.timing.start_time = now / 1_000;
      play.awayMs = 0;
    }
    play.calledAt = now;
    play.limit.start();
  }

  protected override callMade(state: State): WatchedCall | null {
    const play = this.#plays.get(state);
    if (play === undefined) return null;
    return play.waits.begin();
  }

  protected override answerBegins(state: State): void {
    const play = this.#plays.get(state);
    if (play !== undefined) play.answered = true;
  }

  protected override get watchesAnswers(): boolean {
    return this.timeoutSeconds !== null && this.timeoutSeconds > 0;
  }

  async #turn(state: State, play: Play): Promise<void> {
    play.limit.signal.throwIfAborted();
    if (play.leaving) return;
    const prompt = play.prompt === null ? await this.#nextPrompt(state, play) : [...play.prompt];
    play.prompt = null;
    if (prompt === null || play.leaving) return;
    const { now } = play.context;
    const marks = marksOf(state);
    const response = await this.getModelResponse(state, prompt);
    play.answered = true;
    marks.model.push({ start: play.calledAt, end: now() });
    await this.addTrajectoryStep(state, this.#stepOf(state, prompt, response));
  }

  /** Null when the environment has said its final word. */
  async #nextPrompt(state: State, play: Play): Promise<Message[] | null> {
    const { now } = play.context;
    const begin = now();
    const prompt = await this.getPromptMessages(state);
    if (state.trajectory.length > 0) marksOf(state).env.push({ start: begin, end: now() });
    if (state.final_env_response !== null) return null;
    this.#keep(state, play, prompt);
    return prompt;
  }

  #stepOf(state: State, prompt: Message[], response: ModelResponse): TrajectoryStep {
    const { finish_reason: _reason, is_truncated, tokens: given, ...message } = response.message;
    const tokens = stepTokens(given, this.maxSeqLen);
    return {
      prompt,
      completion: [message],
      response,
      tokens,
      reward: null,
      advantage: null,
      is_truncated: is_truncated || (tokens?.is_truncated ?? false),
      trajectory_id: state.trajectory_id,
      extras: {},
    };
  }

  /**
   * Runs a part of the rollout within its time. What a model has not said in it is the model's outcome, as in verifiers; a server that
   * has said nothing at all is none (docs/decisions/silent-servers.md).
   */
  async #guarded(state: State, play: Play, part: () => Promise<void>): Promise<void> {
    await this.#noted(state, play.context, async () => {
      try {
        await play.limit.bound(part());
      } catch (thrown) {
        if (!play.limit.reached) throw thrown;
        state.timed_out = true;
        if (!play.answered) throw new EdgewiseError("timeout", `no answer had begun after the ${this.timeoutSeconds} s of the rollout (--timeout)`, SILENT);
      }
    });
  }

  /** What goes wrong in a part of the rollout is the rollout's outcome, except a cancellation. */
  async #noted(state: State, { signal }: RolloutContext, part: () => Promise<void>): Promise<void> {
    try {
      await part();
    } catch (thrown) {
      const reason: unknown = signal.aborted ? signal.reason : thrown;
      if (signal.aborted && !(reason instanceof EdgewiseError && isRolloutErrorCode(reason.code))) throw reason;
      if (reason instanceof OverlongPromptError) {
        state.prompt_too_long = true;
        state.is_truncated = true;
      } else {
        state.error ??= failureOfRollout(reason);
      }
    }
  }

  async #cleanUp(state: State, context: RolloutContext): Promise<void> {
    await this.#noted(state, context, () => runHandlers(this, "cleanup", state));
  }

  async #stops(state: State, play: Play): Promise<boolean> {
    let completed = false;
    await this.#guarded(state, play, async () => {
      completed = await this.isCompleted(state);
    });
    // A condition that failed, or took the rest of the time, is a reason to stop itself.
    if (!completed && state.error !== null) state.stop_condition = "has_error";
    else if (!completed && state.timed_out) state.stop_condition = "timeout_reached";
    else if (!completed) return false;
    state.is_completed = true;
    state.is_truncated ||= state.trajectory.some((step) => step.is_truncated);
    state.timing.generation_ms = Math.max(0, elapsedOf(state, play, play.context.now()));
    state.timing.total_ms = state.timing.generation_ms;
    if (state.stop_condition === "has_error") log.info("a rollout ended in an error", { example_id: state.example_id, code: state.error?.code ?? null });
    return true;
  }
}
