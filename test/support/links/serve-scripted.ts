import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { type Script, type ScriptedServer, scriptedServer } from "./scripted-server.ts";

export interface ListeningServer extends ScriptedServer {
  readonly url: string;
  readonly close: () => Promise<void>;
}

/** The scripted environment server on a port of this machine. */
export async function serveScripted(script: Script): Promise<ListeningServer> {
  const scripted = scriptedServer(script);
  const server = createServer((request, response) => void answer(scripted, request, response).catch(() => response.destroy()));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = async (): Promise<void> => {
    scripted.cut();
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { ...scripted, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close };
}

async function answer({ handle }: ScriptedServer, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const { method = "GET", headers, url = "/" } = request;
  const body = method === "GET" ? {} : { body: Buffer.concat(chunks) };
  const asked = new Request(`http://${headers.host}${url}`, { method, headers: { authorization: headers.authorization ?? "" }, ...body });
  const told = await handle(asked);
  response.writeHead(told.status, Object.fromEntries(told.headers));
  if (told.body === null) return void response.end();
  response.flushHeaders();
  const lines = Readable.fromWeb(told.body as Parameters<typeof Readable.fromWeb>[0]);
  response.on("close", () => lines.destroy());
  lines.pipe(response);
}
