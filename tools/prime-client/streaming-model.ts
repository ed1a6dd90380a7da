/** A model on loopback that adds, streaming where the harness of `vf-eval` asks for that. It is wrong about every third number, and refuses to speak of 3. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

export interface StreamingModel {
  readonly url: string;
  /** From now on answers come this late. */
  slow(ms: number): void;
  close(): void;
}

export async function startStreamingModel(): Promise<StreamingModel> {
  let latency = 0;
  const server = createServer(async (request, response) => {
    if (request.method === "GET") return response.writeHead(200, { "content-type": "application/json" }).end('{"object":"list","data":[{"id":"scripted"}]}');
    const pieces: Buffer[] = [];
    for await (const piece of request) pieces.push(piece as Buffer);
    if (latency > 0) await new Promise((resolve) => setTimeout(resolve, latency));
    const asked = Buffer.concat(pieces).toString();
    const [, number = ""] = /What is (\d+) \+/.exec(asked) ?? [];
    if (number === "3") return response.writeHead(400, { "content-type": "application/json" }).end('{"error":{"message":"Not of this one."}}');
    const content = Number(number) % 3 === 2 ? "I do not know" : String(2 * Number(number));
    const chunk = (choices: readonly object[], more: object = {}) =>
      `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "scripted", choices, ...more })}\n\n`;
    const usage = { prompt_tokens: 21, completion_tokens: 7, total_tokens: 28 };
    if (!/"stream": ?true/.test(asked)) {
      const whole = { id: "c", object: "chat.completion", created: 1, model: "scripted", usage };
      const choices = [{ index: 0, message: { role: "assistant", content }, finish_reason: "stop" }];
      return response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ ...whole, choices }));
    }
    const said = chunk([{ index: 0, delta: { role: "assistant", content }, finish_reason: null }]);
    const ended = chunk([{ index: 0, delta: {}, finish_reason: "stop" }]);
    return response.writeHead(200, { "content-type": "text/event-stream" }).end(`${said}${ended}${chunk([], { usage })}data: [DONE]\n\n`);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    slow: (ms) => {
      latency = ms;
    },
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
