import type { IncomingMessage, ServerResponse } from "node:http";
import type { Refusal } from "./model-answers.ts";

export const JSON_TYPE = { "content-type": "application/json" } as const;

export function readBody(request: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.once("error", reject);
    request.once("end", () => resolve(Buffer.concat(chunks)));
  });
}

/** Throws for a body that is not JSON. */
export async function readJson(request: IncomingMessage): Promise<unknown> {
  const body = (await readBody(request)).toString("utf8");
  try {
    return JSON.parse(body);
  } catch {
    throw new TypeError("the body is not JSON");
  }
}

export function send(response: ServerResponse, { status, headers, body }: Refusal): void {
  response.writeHead(status, { ...JSON_TYPE, "content-length": Buffer.byteLength(body), ...headers });
  response.end(body);
}

export function sendJson(response: ServerResponse, status: number, value: unknown): void {
  send(response, { status, headers: {}, body: JSON.stringify(value) });
}
