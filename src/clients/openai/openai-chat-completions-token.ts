import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message, StepTokens, TrajectoryStep } from "../../rollouts/types.ts";
import type { Attempt, NativeCall, NativeRequest } from "../base-client.ts";
import { type ChatPrompt, wireMessages } from "./chat-request.ts";
import { OpenAIChatCompletionsClient } from "./openai-chat-completions.ts";
import { record } from "./reply-fields.ts";
import { RequestFailed } from "../transport/request-failure.ts";

/** Why a turn cannot go out as tokens; the usual route takes it then. */
class Obstacle extends Error {}

/**
 * vLLM with a route that takes token ids: a later turn is sent as the very tokens of the turns before it and of the
 * messages since, so that no turn is tokenised anew. Anything in the way, and the turn goes out as messages, with a warning.
 */
export class OpenAIChatCompletionsTokenClient extends OpenAIChatCompletionsClient {
  override readonly type = "openai_chat_completions_token";
  /** With the log-probabilities of every token it would be held to the lower limit of answers in pieces. */
  protected override readonly showsWriting = false;

  override toNativeBody(call: NativeCall<ChatPrompt, JsonObject>): JsonObject {
    return super.toNativeBody({ ...call, sampling_args: { logprobs: true, return_token_ids: true, ...call.sampling_args } });
  }

  /** The very tokens of the turns before it go along. */
  protected override decidesToo(state: Readonly<Record<string, unknown>>): Json | null {
    const steps = (state.trajectory ?? []) as readonly TrajectoryStep[];
    return steps.length === 0 ? null : steps.map(({ tokens }) => (tokens === null ? null : [tokens.prompt_ids, tokens.completion_ids]));
  }

  override async getNativeResponse(request: NativeRequest, attempt: Attempt): Promise<unknown> {
    const steps = (attempt.state.trajectory ?? []) as readonly TrajectoryStep[];
    const messages = (request.body.messages ?? []) as JsonObject[];
    if (steps.length === 0 || messages.some(({ content }) => Array.isArray(content) && content.some((part) => record(part)?.type !== "text"))) {
      return super.getNativeResponse(request, attempt);
    }
    let tokens: number[];
    try {
      tokens = await this.#promptIds(request, messages, steps, attempt);
    } catch (thrown) {
      if (attempt.signal.aborted || !(thrown instanceof Obstacle || thrown instanceof RequestFailed)) throw thrown;
      this.ports.onWarning?.("token_route", `a turn is sent as messages rather than tokens: ${thrown.message}`);
      return super.getNativeResponse(request, attempt);
    }
    return this.post(`${this.path}/tokens`, JSON.stringify({ ...request.body, tokens }), request.body.stream === true, attempt);
  }

  /** Ids of the longest earlier turn that the prompt continues, and of what has come since. */
  async #promptIds(request: NativeRequest, messages: readonly JsonObject[], steps: readonly TrajectoryStep[], attempt: Attempt): Promise<number[]> {
    const found = longestMatch(messages, steps);
    if (found === null) throw new Obstacle("no earlier turn is the beginning of its prompt");
    const { tokens, length } = found;
    if (tokens === null || tokens.is_truncated || tokens.overlong_prompt) throw new Obstacle("the tokens of the turn before are not all known");
    const tail = messages.slice(length);
    if (!isTail(tail)) throw new Obstacle("what follows the turn before is not answers of tools and at most one user message");
    const before = [...tokens.prompt_ids, ...tokens.completion_ids];
    const stand = standIn(tail);
    const [alone, together] = await Promise.all([this.#tokenise(request, [stand], false, attempt), this.#tokenise(request, [stand, ...tail], true, attempt)]);
    // What the template writes after an answer's last token belongs to the bridge.
    const end = alone.lastIndexOf(before.at(-1) ?? -1);
    if (end < 0 || alone.some((id, at) => together[at] !== id)) throw new Obstacle("the chat template does not put one turn after the other");
    return [...before, ...together.slice(end + 1)];
  }

  async #tokenise({ model, body }: NativeRequest, messages: readonly JsonObject[], add_generation_prompt: boolean, attempt: Attempt): Promise<number[]> {
    const question = { model, messages, add_generation_prompt, ...(body.tools === undefined ? {} : { tools: body.tools }) };
    const ids = record(await this.post(`${this.root}/tokenize`, JSON.stringify(question), false, attempt))?.tokens;
    if (!Array.isArray(ids) || !ids.every((id) => typeof id === "number")) throw new Obstacle("the server's /tokenize gave no token ids");
    return ids;
  }
}

/** Tool answers, then at most one user message; and something at all. */
function isTail(tail: readonly JsonObject[]): boolean {
  const answers = tail.at(-1)?.role === "user" ? tail.slice(0, -1) : tail;
  return tail.length > 0 && answers.every(({ role }) => role === "tool");
}

/** Stands for the answer that the tail follows; some templates refuse answers of tools that nobody called. */
function standIn(tail: readonly JsonObject[]): JsonObject {
  const calls = tail.flatMap(({ role, tool_call_id }) =>
    role === "tool" && typeof tool_call_id === "string" ? [{ type: "function", id: tool_call_id, function: { name: "f", arguments: "{}" } }] : [],
  );
  return { role: "assistant", content: "x", ...(calls.length > 0 ? { tool_calls: calls } : {}) };
}

function longestMatch(messages: readonly JsonObject[], steps: readonly TrajectoryStep[]): { tokens: StepTokens | null; length: number } | null {
  let best: { tokens: StepTokens | null; length: number } | null = null;
  for (const { prompt, completion, tokens } of steps) {
    const turn = comparable([...prompt, ...completion]);
    const matches = turn.length < messages.length && turn.every((text, at) => text === JSON.stringify(plain(messages[at] ?? {})));
    if (matches && turn.length > (best?.length ?? 0)) best = { tokens, length: turn.length };
  }
  return best;
}

const comparable = (messages: readonly Message[]): string[] => wireMessages(messages).messages.map((message) => JSON.stringify(plain(message)));

/** Without content there is none, whatever it is called; keys in one order. */
const plain = (message: JsonObject): JsonObject => ({
  role: message.role ?? null,
  content: message.content === "" ? null : (message.content ?? null),
  tool_calls: message.tool_calls ?? null,
  tool_call_id: message.tool_call_id ?? null,
});
