import type { Json, JsonObject } from "../config/plan/run-config.ts";
import type { RolloutErrorCode } from "../errors/codes.ts";
import type { PricedUsage } from "../prices/price.ts";

/**
 * The data of the library, as in verifiers: provider-neutral messages, the input of a rollout, its
 * state and the answer of a model. Everything here is serialised somewhere, so keys are snake_case, and fields that a
 * message carries beyond the named ones are kept.
 */

// Messages

export interface TextPart {
  type: "text";
  text: string;
}
export interface ImagePart {
  type: "image_url";
  image_url: { url: string };
}
export interface AudioPart {
  type: "input_audio";
  input_audio: { data: string; format: string };
}
export interface OtherPart {
  type: string;
  [field: string]: Json | undefined;
}
export type Part = TextPart | ImagePart | AudioPart | OtherPart;
export type Content = string | Part[];

/** `arguments` is a JSON text, as the model wrote it. */
export interface ToolCall {
  id: string;
  name: string;
  arguments: string;
}

/** What a model thought, as its provider signed it: sent back as it came, or the provider refuses the conversation. */
export type ThinkingBlock = { type: "thinking"; thinking: string; signature?: string | null } | { type: "redacted_thinking"; data: string } | JsonObject;

export interface SystemMessage {
  role: "system";
  content: Content;
}
export interface UserMessage {
  role: "user";
  content: Content;
}
/** A raw prompt for completion-style models; chat clients send it as a user message. */
export interface TextMessage {
  role: "text";
  content: string;
}
export interface AssistantMessage {
  role: "assistant";
  content: Content | null;
  reasoning_content?: string | null;
  thinking_blocks?: ThinkingBlock[] | null;
  tool_calls?: ToolCall[] | null;
}
export interface ToolMessage {
  role: "tool";
  tool_call_id: string;
  content: Content;
}
export type Message = SystemMessage | UserMessage | TextMessage | AssistantMessage | ToolMessage;
export type Messages = Message[];
/** verifiers' name for a message. */
export type ChatMessage = Message;
/** What an example says of itself beyond prompt and answer. */
export type Info = JsonObject;
/** `temperature`, `top_p`, `max_tokens` and whatever else the endpoint takes; nulls are dropped when sent. */
export type SamplingArgs = JsonObject;

export interface Tool {
  name: string;
  description: string;
  parameters: JsonObject;
  strict?: boolean | null;
}

// Model calls

export interface Usage {
  prompt_tokens: number;
  /** Always 0, as in the reference: providers count reasoning into `completion_tokens`. */
  reasoning_tokens: number;
  completion_tokens: number;
  total_tokens: number;
  /** Where other tokens are billed than these, or at other prices: what was in the server's cache, or is nowhere but in the total. Absent = these are. */
  billed?: PricedUsage;
}

/** Token ids and log-probabilities of one turn, when the server gives them (vLLM's `return_token_ids` with `logprobs`). */
export interface ResponseTokens {
  prompt_ids: number[];
  prompt_mask: number[];
  completion_ids: number[];
  completion_mask: number[];
  completion_logprobs: number[];
}

/** What the model gave each token, by its text: where the server was asked for it (`logprobs`). With `echo` the prompt's tokens come first. */
export interface TokenLogprobs {
  tokens: string[];
  /** Null for the first token of an echoed prompt: nothing stands before it. */
  token_logprobs: (number | null)[];
}

export interface ResponseMessage extends AssistantMessage {
  finish_reason: "stop" | "length" | "tool_calls" | null;
  is_truncated: boolean;
  tokens: ResponseTokens | null;
}

export interface ModelResponse {
  id: string;
  /** Unix seconds, as the provider says. */
  created: number;
  model: string;
  usage: Usage | null;
  message: ResponseMessage;
  logprobs?: TokenLogprobs;
  /** It was kept from an earlier call and sent to nobody: no request, no latency and no cost of this run. Absent = the server gave it. */
  cached?: true;
}

/** verifiers' name for a model's answer. */
export type Response = ModelResponse;

/** What every call of a model carries, whatever it asks for. */
export interface ModelCall {
  readonly model: string;
  /** Read when sending, for headers that carry a state key's value (`X-Session-ID: example_id`). */
  readonly state: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal | null;
  /** Called when the first attempt holds its permit: from then on the rollout works rather than waits. */
  readonly onBegin?: () => void;
  /** Called with true when an attempt is over and the request waits to be sent again, and with false when the next attempt holds its permit. */
  readonly onWait?: (waiting: boolean) => void;
}

export interface ModelRequest extends ModelCall {
  readonly prompt: readonly Message[];
  /** Resolved arguments; nulls are dropped when sent. */
  readonly sampling_args: JsonObject;
  readonly tools: readonly Tool[];
  /** Called when an answer begins: at the first event of one that comes in pieces, at the head of one that comes whole. */
  readonly onAnswer?: () => void;
  /** Whether it is to be seen that the model writes: the answer is then asked for in pieces, where that changes nothing else. */
  readonly visibly?: boolean;
}

// Scores of texts

/** Texts whose own tokens are to be given their log-probabilities. */
export interface ScoreRequest extends ModelCall {
  readonly texts: readonly string[];
  /** How many of the most probable tokens of each place are wanted; default 0. */
  readonly top?: number;
}

/** One token of a text that was scored. */
export interface PromptToken {
  /** As the server writes it, so that a part of a character may be a replacement character, and a beginning of text its name. */
  text: string;
  /** Natural logarithm; null for the first token, before which there is nothing. */
  logprob: number | null;
  /** Where it stands in the text that was sent, in JavaScript's string units. Tokens that share a character all cover it; one that is not in the text is empty. */
  offset: number;
  end: number;
  /** The most probable tokens of the place, the most probable first; where they were asked for and the place has any. */
  top?: { text: string; logprob: number }[];
  /** Where the server says it. */
  id?: number;
}

/** Ways to have a server score a text; docs/likelihood.md says which server knows which. */
export const SCORING_ROUTES = ["echo", "prompt_logprobs", "sglang_generate", "llama_cpp_forcing"] as const;
export type ScoringRoute = (typeof SCORING_ROUTES)[number];

/** A text with what the model gave each of its tokens. */
export interface PromptScore {
  text: string;
  tokens: PromptToken[];
  /** Of this text alone; of a request with several, its share. */
  usage: Usage | null;
  route: ScoringRoute;
}

// Requests that are passed on

/** Where a relayed request goes, below the base URL of an endpoint. */
export const RELAY_ROUTES = ["chat/completions", "completions", "responses", "messages", "embeddings"] as const;
export type RelayRoute = (typeof RELAY_ROUTES)[number];

/** A request whose body somebody made who speaks to a model's API himself: an agent, an SDK. */
export interface RelayRequest extends ModelCall {
  readonly route: RelayRoute;
  /** Sent as it is but for its `model`, which is that of the call. */
  readonly body: JsonObject;
  /** See `ModelRequest`. */
  readonly onAnswer?: () => void;
}

/** What a server answered, for whoever made the request to read. */
export interface RelayReply {
  readonly status: number;
  readonly content_type: string;
  /** The whole body, of an answer in pieces too. */
  readonly text: string;
}

/** A way to ask a model. Refusals arrive as `EdgewiseError` with a rollout code, or as `OverlongPromptError`; an abort rejects with the signal's reason. */
export interface Client {
  readonly type: string;
  getResponse(request: ModelRequest): Promise<ModelResponse>;
  /**
   * The log-probabilities of texts, in their order. Absent where the kind of client has no way to ask (`scoreTexts` says so by its code);
   * rejects with `prompt_logprobs_unsupported` where the server turns out to have none, else as `getResponse` does.
   */
  score?(request: ScoreRequest): Promise<PromptScore[]>;
  /**
   * Passes a request on, and its answer back. Absent where the kind of client has no way to (`relayed` says so by its code); rejects as `getResponse`
   * does, and what the server said of a refusal goes with the error (`refusedReply`).
   */
  relay?(request: RelayRequest): Promise<RelayReply>;
}

// Rollouts

/** One example as it is pinned; columns of the data set beyond the named ones pass through. */
export interface RolloutInput {
  example_id: number;
  prompt: Message[];
  task: string;
  answer?: Json;
  info?: JsonObject;
  [column: string]: unknown;
}

export interface StepTokens extends ResponseTokens {
  overlong_prompt: boolean;
  is_truncated: boolean;
  routed_experts: null;
}

/** verifiers' name for the tokens of a step. */
export type TrajectoryStepTokens = StepTokens;

/** One model call of a rollout: what was sent and what came back. */
export interface TrajectoryStep {
  prompt: Message[];
  completion: Message[];
  response: ModelResponse;
  tokens: StepTokens | null;
  reward: number | null;
  advantage: number | null;
  is_truncated: boolean;
  trajectory_id: string;
  extras: JsonObject;
}

export interface TokenUsage {
  input_tokens: number;
  output_tokens: number;
  /** Of the model under evaluation, where other tokens are billed than these. */
  billed?: PricedUsage;
}

/** Milliseconds, except `start_time` (Unix seconds). */
export interface Timing {
  generation_ms: number;
  scoring_ms: number;
  total_ms: number;
  start_time: number;
}

/** verifiers' name for the times of a rollout. */
export type RolloutTiming = Timing;

/** Why a rollout ended badly: outermost error first. Plain data, so that it can be a state column. */
export interface RolloutFailure {
  code: RolloutErrorCode;
  message: string;
  chain: { name: string; message: string }[];
  /** What to change, for a person. */
  hint?: string;
}

/**
 * Everything known of one rollout while it runs. A plain object: environments and reward functions may add keys of their own,
 * which `--state-columns` can copy into the row. `prompt, answer, task, info, example_id` read and write `input`.
 */
export interface State {
  input: RolloutInput;
  prompt: Message[];
  answer: Json | undefined;
  task: string;
  info: JsonObject | undefined;
  example_id: number;
  client: Client | null;
  model: string;
  sampling_args: JsonObject;
  is_completed: boolean;
  is_truncated: boolean;
  stop_condition: string | null;
  prompt_too_long: boolean;
  /** Its own time limit ended it (`timeout_seconds`). */
  timed_out: boolean;
  tool_defs: Tool[];
  trajectory: TrajectoryStep[];
  trajectory_id: string;
  completion: Message[] | null;
  final_env_response: Message[] | null;
  /** Sums over all calls that reported usage; null while none did. */
  usage: TokenUsage | null;
  reward: number | null;
  metrics: Record<string, number> | null;
  advantage: number | null;
  error: RolloutFailure | null;
  timing: Timing;
  [key: string]: unknown;
}
