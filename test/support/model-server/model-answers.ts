import type { AnswerMode, Fault, Script } from "./model-script.ts";

/** A chat message as it arrives; content may be text or a list of typed parts. */
export interface ChatMessage {
  readonly role: string;
  readonly content?: string | null | readonly { readonly type: string; readonly text?: string }[];
}

/** Text of the newest user message: what the ledger calls the prompt. */
export function promptOf(messages: readonly ChatMessage[]): string {
  for (let index = messages.length - 1; index >= 0; index--) {
    const message = messages[index];
    if (message?.role === "user") return textOf(message.content);
  }
  return "";
}

function textOf(content: ChatMessage["content"]): string {
  if (typeof content === "string") return content;
  return (content ?? []).map(({ text = "" }) => text).join("");
}

const WRONG = "I do not know.";

/** What the model says. `attempt` = how often this prompt was asked before, plus one. */
export function answerTo(script: Pick<Script, "answer" | "accuracy">, messages: readonly ChatMessage[], attempt: number): string {
  const prompt = promptOf(messages);
  const lucky = script.accuracy >= 1 || evenHash(`${attempt}:${prompt}`) < script.accuracy;
  return lucky ? rightAnswer(script.answer, messages, prompt) : WRONG;
}

function rightAnswer(mode: AnswerMode, messages: readonly ChatMessage[], prompt: string): string {
  if (mode === "wrong") return WRONG;
  if (mode === "echo") return prompt;
  if (typeof mode === "object") return mode.text;
  const reversed = [...taskText(prompt)].reverse().join("");
  const tagged = messages.some(({ content }) => textOf(content).includes("<reversed_text>"));
  return tagged ? `<reversed_text>${reversed}</reversed_text>` : reversed;
}

/** The text to reverse: what stands in `<text>` tags, else the whole message. */
function taskText(prompt: string): string {
  return /<text>\n?([\s\S]*?)\n?<\/text>/.exec(prompt)?.[1] ?? prompt;
}

/** FNV-1a, as a number in [0, 1). */
function evenHash(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
  return ((hash ^ (hash >>> 13)) >>> 0) / 2 ** 32;
}

export interface CompletionFacts {
  readonly n: number | string;
  readonly model: string;
  readonly content: string;
  readonly usage: Script["usage"];
}

/** The JSON of a chat completion, bent as `fault` says. */
export function completionBody({ n, model, content, usage }: CompletionFacts, fault: Fault | null): string {
  const choice = (index: number) => ({
    index,
    message: { role: "assistant", content: fault?.kind === "null_content" ? null : fault?.kind === "empty_content" ? "" : content },
    finish_reason: fault?.kind === "truncated" ? "length" : "stop",
  });
  const choices = fault?.kind === "empty_choices" ? [] : fault?.kind === "two_choices" ? [choice(0), choice(1)] : [choice(0)];
  const counted = usage === null ? {} : { usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } };
  return JSON.stringify({ id: `chatcmpl-${n}`, object: "chat.completion", created: Math.floor(Date.now() / 1000), model, choices, ...counted });
}

export interface Refusal {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Faults that are an error status, with the body OpenAI sends with it; null for every other fault. */
export function refusalOf(fault: Fault, model: string): Refusal | null {
  switch (fault.kind) {
    case "rate_limited":
      return refusal(429, "Rate limit reached. Please try again later.", "requests", "rate_limit_exceeded", retryAfter(fault));
    case "insufficient_quota":
      return refusal(429, "You exceeded your current quota, please check your plan and billing details.", "insufficient_quota", "insufficient_quota");
    case "model_not_found":
      return refusal(404, `The model \`${model}\` does not exist or you do not have access to it.`, "invalid_request_error", "model_not_found");
    case "context_length":
      return refusal(400, "This model's maximum context length is 4096 tokens.", "invalid_request_error", "context_length_exceeded");
    case "status":
      return refusal(
        fault.status,
        fault.message ?? `Scripted status ${fault.status}.`,
        fault.status < 500 ? "invalid_request_error" : "server_error",
        CODES[fault.status] ?? null,
      );
    default:
      return null;
  }
}

const CODES: Readonly<Record<number, string>> = { 401: "invalid_api_key", 402: "payment_required", 403: "forbidden" };

export function refusal(status: number, message: string, type: string, code: string | null, headers: Readonly<Record<string, string>> = {}): Refusal {
  return { status, headers, body: JSON.stringify({ error: { message, type, param: null, code } }) };
}

function retryAfter({ retry_after_s: seconds, retry_after_form: form }: Fault & { kind: "rate_limited" }): Readonly<Record<string, string>> {
  if (seconds === undefined) return {};
  if (form === "milliseconds") return { "retry-after-ms": String(Math.round(seconds * 1000)) };
  // An HTTP date has whole seconds: rounded up, so that who waits until then has waited long enough.
  if (form === "date") return { "retry-after": new Date(Math.ceil(Date.now() / 1000 + seconds) * 1000).toUTCString() };
  return { "retry-after": String(seconds) };
}
