import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One answer of the model; `status` is a refusal with `message`. */
interface Turn {
  readonly content?: string | null;
  readonly reasoning_content?: string;
  readonly finish_reason?: string;
  readonly tool_calls?: readonly { readonly name: string; readonly arguments: string }[];
  readonly status?: number;
  readonly message?: string;
  readonly no_usage?: boolean;
}

interface Asked {
  readonly model: string;
  readonly messages?: readonly { readonly role: string; readonly content: unknown }[];
  readonly prompt?: string;
}

/**
 * An OpenAI-compatible server on loopback whose answers depend on the request alone: the prompt carries its script, `SCRIPT[…]` with
 * one entry per turn, and the number of answers after it says which turn this is. Prompts that begin with JUDGE are judged.
 */
export async function startScriptServer(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    close: () =>
      new Promise((done) => {
        server.close(() => done());
        server.closeAllConnections();
      }),
  };
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const asked = JSON.parse((await Array.fromAsync(request)).map(String).join("")) as Asked;
  const turn = turnOf(asked);
  const [status, body] =
    turn.status === undefined
      ? [200, completionOf(asked, turn)]
      : [turn.status, { error: { message: turn.message, type: "invalid_request_error", code: null } }];
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function turnOf({ messages, prompt }: Asked): Turn {
  const texts = messages?.map(({ content }) => String(content)) ?? [prompt ?? ""];
  const [, expected, given] = /^JUDGE (.*) AGAINST (.*)$/.exec(texts[0] ?? "") ?? [];
  if (expected !== undefined) return { content: expected === given ? "yes" : "no" };
  const at = texts.findLastIndex((text) => text.includes("SCRIPT["));
  const turns = JSON.parse(texts[at]?.split("SCRIPT")[1] ?? "[]") as readonly Turn[];
  const said = (messages ?? []).slice(at + 1).filter(({ role }) => role === "assistant").length;
  const turn = turns[said];
  if (turn === undefined) throw new Error(`no turn ${said} in ${JSON.stringify(turns)}`);
  return turn;
}

function completionOf({ model, messages, prompt }: Asked, turn: Turn): object {
  const { content = null, reasoning_content, tool_calls, no_usage = false } = turn;
  const finish_reason = turn.finish_reason ?? (tool_calls === undefined ? "stop" : "tool_calls");
  const sent = (messages?.length ?? 1) * 10;
  const usage = no_usage ? {} : { usage: { prompt_tokens: sent, completion_tokens: 7, total_tokens: sent + 7 } };
  const head = { id: "scripted", created: 1, model, ...usage };
  if (prompt !== undefined) return { ...head, object: "text_completion", choices: [{ index: 0, text: content, finish_reason, logprobs: null }] };
  const calls = tool_calls?.map(({ name, arguments: text }, index) => ({ id: `call_${sent}_${index}`, type: "function", function: { name, arguments: text } }));
  const message = {
    role: "assistant",
    content,
    ...(reasoning_content === undefined ? {} : { reasoning_content }),
    ...(calls === undefined ? {} : { tool_calls: calls }),
  };
  return { ...head, object: "chat.completion", choices: [{ index: 0, message, finish_reason, logprobs: null }] };
}
