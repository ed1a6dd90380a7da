import { OverlongPromptError } from "../clients/overlong-prompt-error.ts";
import { EdgewiseError } from "../errors/result.ts";
import { loggerOf } from "../logging/logger.ts";
import { Environment, type EnvironmentOptions } from "./environment.ts";
import { failureOfRollout, isRolloutErrorCode } from "../rollouts/failure.ts";
import { runHandlers } from "../rollouts/handlers.ts";
import { normaliseMessages } from "../rollouts/messages.ts";
import { turnMonitor } from "./monitors.ts";
import type { RolloutContext } from "./playable.ts";
import { integer, number, orNull, type Settings } from "./setting.ts";
import { stepTokens } from "../rollouts/step-tokens.ts";
import { TimeLimit } from "./time-limit.ts";
import { marksOf } from "../rollouts/time-marks.ts";
import type { Message, ModelResponse, State, TrajectoryStep } from "../rollouts/types.ts";

export interface MultiTurnOptions extends EnvironmentOptions {
  /** Model calls per rollout; below 1 = no limit (default). */
  readonly maxTurns?: number;
  /** Tokens a rollout may write in all; below 1 = no limit (default). */
  readonly maxTotalCompletionTokens?: number;
  /** Time of one rollout from its first permit on, without scoring; null = no limit (default). */
  readonly timeoutSeconds?: number | null;
}

/** What an environment answers: messages, or a text, as data sets write them. */
export type EnvResponse = string | readonly Message[];

/** What one rollout of the loop works under. */
interface Play {
  readonly context: RolloutContext;
  readonly limit: TimeLimit;
  /** When the model call under way got its permit, in Unix milliseconds. */
  calledAt: number;
  /** Whether the model has begun to answer, in any turn. */
  answered: boolean;
}

const log = loggerOf("rollout");

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
    const seconds = this.timeoutSeconds;
    const limit = new TimeLimit(seconds !== null && seconds > 0 ? seconds * 1_000 : null, context.signal, context.sleep);
    const play: Play = { context, limit, calledAt: 0, answered: false };
    this.#plays.set(state, play);
    this.enter(state, { ...context, signal: limit.signal });
    try {
      const begin = context.now();
      await this.#guarded(state, play, () => this.setupState(state));
      marksOf(state).setup = { start: begin, end: context.now() };
      while (!(await this.#stops(state, play))) await this.#guarded(state, play, () => this.#turn(state, play));
    } catch (thrown) {
      // A cancellation: what the environment holds is let go, and whoever cancelled hears of it.
      await this.#cleanUp(state, context).catch(() => undefined);
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

  /** Time spent waiting for a first permit is the run's, not the rollout's. */
  protected override callBegins(state: State): void {
    const play = this.#plays.get(state);
    if (play === undefined) return;
    play.calledAt = play.context.now();
    if (state.trajectory.length === 0) state.timing.start_time = play.calledAt / 1_000;
    play.limit.start();
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
    const { now } = play.context;
    const marks = marksOf(state);
    const begin = now();
    const prompt = await this.getPromptMessages(state);
    if (state.trajectory.length > 0) marks.env.push({ start: begin, end: now() });
    if (state.final_env_response !== null) return;
    play.calledAt = now();
    const response = await this.getModelResponse(state, prompt);
    play.answered = true;
    marks.model.push({ start: play.calledAt, end: now() });
    await this.addTrajectoryStep(state, this.#stepOf(state, prompt, response));
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
    state.timing.generation_ms = Math.max(0, play.context.now() - state.timing.start_time * 1_000);
    state.timing.total_ms = state.timing.generation_ms;
    if (state.stop_condition === "has_error") log.info("a rollout ended in an error", { example_id: state.example_id, code: state.error?.code ?? null });
    return true;
  }
}
