import type { IncomingMessage, ServerResponse } from "node:http";
import { z } from "zod";
import { openSession } from "../../../src/environment-session/session.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { type EnvironmentServer, environmentServer } from "./environment-server.ts";

/** What tests in workerd play that is at the other end of a network: `reverse-text`'s task, with rows of its own. */
const LINKED = defineEnvironment({
  id: "reversed",
  version: "7",
  description: "Turns texts around.",
  args: z.object({ examples: z.int().default(20) }),
  load: ({ examples }) =>
    new SingleTurnEnv({
      dataset: Array.from({ length: examples }, (_, at) => ({ question: `text ${at}`, answer: [...`text ${at}`].reverse().join("") })),
      rubric: new Rubric([{ name: "reversed", fn: ({ completion, answer }) => completion.at(-1)?.content === answer }]),
    }),
});

/** What a server saw and does, by HTTP for tests that are not in its process: `POST /control/cut`, `down`, `up`; `GET /control/seen`. */
export interface Seen {
  readonly conversations: number;
  readonly open: number;
  /** Requests up, and the most at once in one conversation. */
  readonly posts: number;
  readonly most: number;
  readonly messages: readonly string[];
}

/** A server whose conversations a test may cut off, and which says that it is busy where the test wants so. */
export async function linkedServer(): Promise<EnvironmentServer> {
  let isDown = false;
  const control = (request: IncomingMessage, response: ServerResponse): boolean => {
    const [, base, what] = (request.url ?? "").split("/");
    if (base !== "control") {
      if (isDown) response.writeHead(503).end("not now");
      return isDown;
    }
    if (what === "down" || what === "up") isDown = what === "down";
    if (what === "down" || what === "cut") for (const { cut } of server.conversations) cut();
    const open = server.conversations.filter(({ isOpen }) => isOpen).length;
    const messages = server.conversations.flatMap(({ batches }) => batches.flat().map(({ type }) => type));
    const posts = server.conversations.reduce((sum, { numbers }) => sum + numbers.length, 0);
    const seen: Seen = {
      conversations: server.conversations.length,
      open,
      posts,
      most: Math.max(0, ...server.conversations.map(({ most }) => most)),
      messages,
    };
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(seen));
    return true;
  };
  const server = await environmentServer((channel) => openSession(() => LINKED, channel), { beatMs: 1_000, instead: control });
  return server;
}
