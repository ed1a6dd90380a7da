import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { ImportedError, ImportedRollout } from "./imported-run.ts";
import { countOf, type Fields, fieldsOf, isFields, listOf, numberOf, present, scoreOf, secondsOf, textOf } from "./fields.ts";
import { messagesOfLog } from "./messages-of-log.ts";

/** Which score is the reward: that of a scorer, or one of several that it gives. */
export interface InspectReward {
  readonly scorer: string;
  readonly key: string | null;
}

interface Context {
  readonly task: string;
  readonly model: string;
  readonly reward: InspectReward | null;
  readonly example: number;
}

/** A sample of one epoch. */
export function rolloutOfSample(sample: Fields, { task, model, reward, example }: Context): ImportedRollout {
  const scores = scoresOf(sample);
  const metrics = metricsOf(scores);
  const [firstScorer] = Object.keys(scores);
  const from = reward ?? (firstScorer === undefined ? null : { scorer: firstScorer, key: null });
  const output = fieldsOf(sample.output);
  const choice = listOf(output.choices)[0];
  const limit = textOf(fieldsOf(sample.limit).type);
  const stop = limit ?? textOf(choice?.stop_reason);
  const started = secondsOf(sample.started_at);
  const total = numberOf(sample.total_time);
  const usages = fieldsOf(sample.model_usage);
  const others = Object.fromEntries(Object.entries(usages).filter(([name]) => name !== model));
  return {
    example,
    rollout: Math.max(0, (countOf(sample.epoch) ?? 1) - 1),
    sourceId: sample.id ?? null,
    task,
    ...conversationOf(sample),
    answer: sample.target ?? null,
    info: present({ metadata: sample.metadata, choices: sample.choices, scores: scores as Json, limit: sample.limit, model_usage: others as Json }),
    reward: from === null ? null : scoreIn(scores, from),
    metrics,
    error: errorOf(sample.error),
    timing: { ...(started === null ? {} : { start_time: started }), ...(total === null ? {} : { total_ms: total * 1_000 }) },
    isCompleted: true,
    isTruncated: stop === null ? null : ["max_tokens", "model_length", "context", "token"].includes(stop),
    stopCondition: stop,
    usage: usageOf(usages[model]),
    tools: null,
  };
}

/** Up to 2024 a sample had one score, without a name. */
function scoresOf(sample: Fields): Fields {
  if (isFields(sample.scores)) return Object.fromEntries(Object.entries(sample.scores).map(([name, score]) => [name, scoreFields(score)]));
  return isFields(sample.score) ? { score: scoreFields(sample.score) } : {};
}

const scoreFields = (score: unknown): Json => {
  const { value, answer, explanation, metadata } = fieldsOf(score);
  return { value: value ?? null, ...present({ answer, explanation, metadata }) };
};

/** Under the name of the scorer; one that gives several scores names them itself, with its own name before one that is taken. */
function metricsOf(scores: Fields): Record<string, number> {
  const metrics = new Map<string, number>();
  for (const [scorer, score] of Object.entries(scores)) {
    const { value } = fieldsOf(score);
    const parts: readonly (readonly [string, unknown])[] = isFields(value) ? Object.entries(value) : [[scorer, value]];
    for (const [name, part] of parts) {
      const number = numberOfValue(part);
      if (number !== null) metrics.set(metrics.has(name) ? `${scorer}/${name}` : name, number);
    }
  }
  return Object.fromEntries(metrics);
}

function scoreIn(scores: Fields, { scorer, key }: InspectReward): number | null {
  const { value } = fieldsOf(scores[scorer]);
  return numberOfValue(key === null ? value : fieldsOf(value)[key]);
}

/** Inspect's `value_to_float`: letters of verdicts, words and numbers in texts; null for anything else, of which Inspect makes no number either. */
function numberOfValue(value: unknown): number | null {
  if (typeof value !== "string") return scoreOf(value);
  const letters: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 };
  if (Object.hasOwn(letters, value)) return letters[value] ?? null;
  const word = value.trim().toLowerCase();
  if (word === "yes" || word === "true") return 1;
  if (word === "no" || word === "false") return 0;
  return word === "" ? null : numberOf(Number(word));
}

/** Messages before the first that the model made are the prompt. */
function conversationOf(sample: Fields): { prompt: Json; completion: Json } {
  const attachments = fieldsOf(sample.attachments);
  const whole = (raw: unknown): unknown => resolved(raw, attachments);
  const messages = listOf(whole(sample.messages));
  const answered = messages.findIndex(({ role, source }) => role === "assistant" && source !== "input");
  const from = answered < 0 ? messages.length : answered;
  const input = whole(sample.input);
  const prompt = messages.slice(0, from);
  return {
    prompt: prompt.length > 0 ? messagesOfLog(prompt.map(messageOf)) : messagesOfLog(Array.isArray(input) ? listOf(input).map(messageOf) : input),
    completion: messages.length === 0 ? null : messages.length === from ? [] : messagesOfLog(messages.slice(from).map(messageOf)),
  };
}

const ATTACHMENT = "attachment://";

/** Long texts stand once, beside the messages. */
function resolved(value: unknown, attachments: Fields): unknown {
  if (typeof value === "string") return value.startsWith(ATTACHMENT) ? (attachments[value.slice(ATTACHMENT.length)] ?? value) : value;
  if (Array.isArray(value)) return value.map((item) => resolved(item, attachments));
  return isFields(value) ? Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolved(item, attachments)])) : value;
}

function messageOf({ role, content, tool_calls, tool_call_id, function: name, error }: Fields): JsonObject {
  const parts = Array.isArray(content) ? listOf(content) : null;
  const reasoning = parts?.flatMap((part) => (part.type === "reasoning" && typeof part.reasoning === "string" ? [part.reasoning] : [])).join("\n") ?? "";
  const said = parts?.filter(({ type }) => type !== "reasoning").map(partOf);
  return {
    role: role ?? "user",
    content: said === undefined ? (content ?? "") : (said as Json),
    ...(reasoning === "" ? {} : { reasoning_content: reasoning }),
    ...(role === "tool" ? { tool_call_id: textOf(tool_call_id) ?? "" } : {}),
    ...present({ name, error }),
    ...(Array.isArray(tool_calls) && tool_calls.length > 0 ? { tool_calls: listOf(tool_calls).map(callOf) } : {}),
  };
}

function partOf(part: Fields): Fields {
  if (part.type === "image") return { type: "image_url", image_url: { url: part.image ?? "" } };
  if (part.type === "audio") return { type: "input_audio", input_audio: { data: part.audio ?? "", format: part.format ?? "" } };
  return part.type === "text" ? { type: "text", text: part.text ?? "" } : part;
}

const callOf = ({ id, function: name, arguments: given }: Fields): JsonObject => ({ id: id ?? null, name: textOf(name) ?? "", arguments: given ?? {} });

/** The class stands before the first bracket of Python's form of an error. */
function errorOf(error: unknown): ImportedError | null {
  if (error === undefined || error === null) return null;
  const message = textOf(fieldsOf(error).message) ?? (typeof error === "string" ? error : "");
  return { name: /^([A-Za-z_][\w.]*)\(/.exec(message)?.[1] ?? "Error", message };
}

/** With what was read from a cache, or written to it, as verifiers counts. */
function usageOf(usage: unknown): ImportedRollout["usage"] {
  const { input_tokens, output_tokens, input_tokens_cache_read, input_tokens_cache_write } = fieldsOf(usage);
  if (numberOf(input_tokens) === null && numberOf(output_tokens) === null) return null;
  const count = (tokens: unknown): number => numberOf(tokens) ?? 0;
  return { input_tokens: count(input_tokens) + count(input_tokens_cache_read) + count(input_tokens_cache_write), output_tokens: count(output_tokens) };
}
