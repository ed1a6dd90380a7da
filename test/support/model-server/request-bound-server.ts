import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

interface Asked {
  readonly model: string;
  readonly messages: readonly { readonly role: string; readonly content?: unknown }[];
  readonly tools?: readonly {
    readonly function: { readonly name: string; readonly parameters: { readonly properties?: Readonly<Record<string, { readonly type?: string }>> } };
  }[];
}

export interface RequestBoundServer {
  /** Base URL for `-b`. */
  readonly url: string;
  /** Requests answered so far. */
  readonly answered: () => number;
  close(): Promise<void>;
}

const ARGUMENTS: Readonly<Record<string, unknown>> = { integer: 3, number: 1.5, boolean: true };

/**
 * A model on loopback whose answer follows from the messages alone, whoever asks and whenever: two programs that ask the same get the same, in whatever order.
 * Where there are tools it calls some of them, until it has been told what they gave.
 */
export async function startRequestBoundServer(): Promise<RequestBoundServer> {
  let answered = 0;
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on("data", (part: Buffer) => parts.push(part));
    request.on("end", () => {
      answered++;
      response.writeHead(200, { "content-type": "application/json" }).end(answerTo(JSON.parse(Buffer.concat(parts).toString("utf8")) as Asked));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    answered: () => answered,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

function answerTo({ model, messages, tools = [] }: Asked): string {
  const text = JSON.stringify(messages.map(({ role, content }) => [role, content ?? null]));
  const drawn = createHash("sha256").update(text).digest().readUInt32BE();
  const last = messages.at(-1);
  const calls = last?.role === "tool" || drawn % 5 === 0 ? [] : tools.slice(0, 1 + (drawn % 3)).map(callOf);
  const said = `${drawn % 3 === 0 ? "yes" : "no"}, <answer>${["Paris", "Rome", "4", "2"][drawn % 4]}</answer> ${drawn % 10} score`;
  const message = calls.length > 0 ? { role: "assistant", content: null, tool_calls: calls } : { role: "assistant", content: said };
  const usage = { prompt_tokens: text.length, completion_tokens: 5 + (drawn % 11), total_tokens: text.length + 5 + (drawn % 11) };
  const choice = { index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop", logprobs: null };
  return JSON.stringify({ id: `chatcmpl-${drawn}`, object: "chat.completion", created: 1_700_000_000, model, choices: [choice], usage });
}

function callOf({ function: { name, parameters } }: NonNullable<Asked["tools"]>[number], index: number): object {
  const given = Object.fromEntries(Object.entries(parameters.properties ?? {}).map(([key, { type = "" }]) => [key, ARGUMENTS[type] ?? "abc"]));
  return { id: `call_${index}`, type: "function", function: { name, arguments: JSON.stringify(given) } };
}
