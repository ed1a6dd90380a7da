import { answerTo, type ChatMessage, completionBody, promptOf } from "../model-answers.ts";
import type { Script } from "../model-script.ts";
import type { LineFault } from "./batch-plan.ts";

/** What has become of one request of a batch that has ended. */
export type LineResult = { readonly custom_id: string; readonly prompt: string; readonly fault: LineFault | null } & (
  | { readonly kind: "answer"; readonly status: number; readonly body: unknown }
  | { readonly kind: "lost"; readonly why: "expired" | "cancelled" }
);

type Body = Readonly<Record<string, unknown>>;

/** The conversation of a request, by whichever route: chat, messages, Responses, completions. */
function messagesOf({ messages, input, prompt }: Body): readonly ChatMessage[] {
  const said = messages ?? input ?? prompt;
  if (Array.isArray(said)) return said as ChatMessage[];
  return [{ role: "user", content: String(said ?? "") }];
}

export const promptIn = (body: Body): string => promptOf(messagesOf(body));

/** The model's answer to one request, bent as `fault` says. */
export function answerRequest(
  script: Script,
  endpoint: string,
  body: Body,
  { n, attempt }: { readonly n: string; readonly attempt: number },
  fault: LineFault | null,
): { kind: "answer"; status: number; body: unknown; fault: LineFault | null } | { kind: "lost"; why: "expired" | "cancelled"; fault: LineFault | null } {
  if (fault?.kind === "expired" || fault?.kind === "cancelled") return { kind: "lost", why: fault.kind, fault };
  if (fault?.kind === "status" || fault?.kind === "error") {
    const status = fault.kind === "status" ? fault.status : 500;
    const message = fault.message ?? `Scripted status ${status}.`;
    const type = fault.kind === "status" ? fault.type : undefined;
    return { kind: "answer", status, body: errorBody(endpoint, status, message, type), fault };
  }
  const said = fault?.kind === "text" ? fault.text : fault?.kind === "large" ? "x".repeat(fault.bytes) : answerTo(script, messagesOf(body), attempt);
  return { kind: "answer", status: 200, body: answerBody(endpoint, script, String(body.model), said, n), fault };
}

/** Of `error.type`, by status. */
const ANTHROPIC_TYPES: Readonly<Record<number, string>> = {
  400: "invalid_request_error",
  401: "authentication_error",
  404: "not_found_error",
  429: "rate_limit_error",
  529: "overloaded_error",
};

function errorBody(endpoint: string, status: number, message: string, type: string | undefined): unknown {
  if (endpoint === "/v1/messages") return { type: "error", error: { type: type ?? ANTHROPIC_TYPES[status] ?? "api_error", message } };
  return { error: { message, type: status < 500 ? "invalid_request_error" : "server_error", param: null, code: null } };
}

function answerBody(endpoint: string, { usage }: Script, model: string, said: string, n: string): unknown {
  const [input, output] = [usage?.prompt_tokens ?? 0, usage?.completion_tokens ?? 0];
  const created = Math.floor(Date.now() / 1000);
  switch (endpoint) {
    case "/v1/messages": {
      const counted = usage === null ? {} : { usage: { input_tokens: input, output_tokens: output } };
      const content = [{ type: "text", text: said }];
      return { id: `msg_${n}`, type: "message", role: "assistant", model, content, stop_reason: "end_turn", stop_sequence: null, ...counted };
    }
    case "/v1/responses": {
      const content = [{ type: "output_text", text: said, annotations: [] }];
      const message = { id: `msg_${n}`, type: "message", role: "assistant", status: "completed", content };
      const counted = usage === null ? {} : { usage: { input_tokens: input, output_tokens: output, total_tokens: input + output } };
      return { id: `resp_${n}`, object: "response", created_at: created, status: "completed", model, output: [message], ...counted };
    }
    case "/v1/completions": {
      const counted = usage === null ? {} : { usage: { ...usage, total_tokens: input + output } };
      const choices = [{ index: 0, text: said, finish_reason: "stop", logprobs: null }];
      return { id: `cmpl-${n}`, object: "text_completion", created, model, choices, ...counted };
    }
    default:
      return JSON.parse(completionBody({ n, model, content: said, usage }, null));
  }
}
