import { afterEach, describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { openEnvConnect, type OpenEnvNetwork } from "../../../src/environments/openenv/openenv-connect.ts";
import type { Socket } from "../../../src/environments/openenv/openenv-socket.ts";

type Said = { readonly type: string; readonly data?: JsonObject };
type Answers = (said: Said) => Said | "drop" | "silence" | "noise";
type Hear = Parameters<Socket["addEventListener"]>[1];

/** A socket of a server that follows a script, and says `greeting` before it is asked. */
function scriptedSocket(answers: Answers, greeting: Said | null = null, said: Said[] = []): Socket {
  const heard = new Map<string, Hear[]>();
  const tell = (type: string, event: Parameters<Hear>[0] = {}): void => {
    for (const hear of heard.get(type) ?? []) hear(event);
  };
  queueMicrotask(() => {
    tell("open");
    if (greeting !== null) tell("message", { data: JSON.stringify(greeting) });
  });
  return {
    addEventListener: (type, hear) => void heard.set(type, [...(heard.get(type) ?? []), hear]),
    send(text) {
      const asked = JSON.parse(text) as Said;
      said.push(asked);
      if (asked.type === "close") return;
      const answer = asked.type === "state" ? { type: "state", data: {} } : answers(asked);
      queueMicrotask(() => {
        if (answer === "drop") tell("close");
        else if (answer !== "silence") tell("message", { data: answer === "noise" ? "[" : JSON.stringify(answer) });
      });
    },
    close: () => tell("close"),
  };
}

const network = (socket: () => Socket, extra: Partial<OpenEnvNetwork> = {}): OpenEnvNetwork => ({
  fetch: () => Promise.reject(new Error("no fetch")),
  socket,
  allowPrivate: true,
  sleep: async () => undefined,
  ...extra,
});
const opened = (answers: Answers) => openEnvConnect(network(() => scriptedSocket(answers)))("http://localhost:1").session();
const full: Said = { type: "error", data: { code: "CAPACITY_REACHED", message: "1/1 sessions active" } };

afterEach(() => void vi.useRealTimers());

describe("a session with an OpenEnv server", () => {
  it("resets, steps and ends over one socket, below the server's address", async () => {
    const said: Said[] = [];
    const urls: string[] = [];
    const answers: Answers = ({ type }) => ({
      type: "observation",
      data: { observation: { at: type }, reward: type === "step" ? true : null, done: type === "step" },
    });
    const connect = openEnvConnect(
      network(() => scriptedSocket(answers, null, said), {
        socket: (url) => {
          urls.push(url);
          return scriptedSocket(answers, null, said);
        },
      }),
    );
    const session = await connect("https://host/env/").session();
    expect(await session.reset(7)).toEqual({ observation: { at: "reset" }, reward: null, done: false });
    expect(await session.step({ message: "x" })).toEqual({ observation: { at: "step" }, reward: 1, done: true });
    await session.close();
    await expect(session.step({})).rejects.toThrow("the session was closed");
    expect(urls).toEqual(["wss://host/env/ws"]);
    expect(said).toEqual([{ type: "state" }, { type: "reset", data: { seed: 7 } }, { type: "step", data: { message: "x" } }, { type: "close" }]);
  });

  it("is waited for while the server has no room", async () => {
    const greetings = [full, full, null];
    const waits: number[] = [];
    const sleep = async (ms: number): Promise<void> => void waits.push(ms);
    const connect = openEnvConnect(network(() => scriptedSocket(() => "silence", greetings.shift() ?? null), { sleep }));
    await (await connect("http://localhost:1").session()).close();
    expect([waits, greetings]).toEqual([[250, 500], []]);
    const never = openEnvConnect(network(() => scriptedSocket(() => "silence", full)));
    await expect(never("http://localhost:1").session()).rejects.toMatchObject({ code: "sandbox_error", message: expect.stringMatching(/no room.*1\/1/) });
  });

  it("tells what the server refuses by its field, and goes on", async () => {
    const refusal = { type: "error", data: { code: "VALIDATION_ERROR", message: "Invalid message", errors: [{ loc: ["move", 0], msg: "Field required" }] } };
    let refuses = true;
    const session = await opened(() => (refuses ? refusal : { type: "observation", data: { observation: 1 } }));
    await expect(session.step({})).rejects.toMatchObject({
      name: "OpenEnvRefusal",
      code: "VALIDATION_ERROR",
      message: "Invalid message: move.0: Field required",
    });
    refuses = false;
    expect(await session.step({})).toEqual({ observation: 1, reward: null, done: false });
  });

  it.each([
    ["drop", /closed the connection/],
    ["noise", /no message/],
    [{ type: "observation", data: {} }, /without an observation/],
  ] as const)("is an infrastructure error when the server's answer is %j", async (answer, message) => {
    const session = await opened(() => answer);
    await expect(session.reset(0)).rejects.toMatchObject({ code: "sandbox_error", message: expect.stringMatching(message) });
  });

  it("waits a minute for an answer, and ten seconds for a connection", async () => {
    const session = await opened(() => "silence");
    vi.useFakeTimers();
    const step = expect(session.step({})).rejects.toThrow(/no answer within 60 s/);
    await vi.advanceTimersByTimeAsync(60_000);
    await step;
    const mute: Socket = { send: () => undefined, close: () => undefined, addEventListener: () => undefined };
    const unopened = expect(openEnvConnect(network(() => mute))("http://localhost:1").session()).rejects.toThrow(/no connection within 10 s/);
    await vi.advanceTimersByTimeAsync(10_000);
    await unopened;
  });

  it("lists tools, or says that there are none", async () => {
    const tools = (result: unknown, error: unknown = null) =>
      opened(() => ({ type: "mcp", data: { jsonrpc: "2.0", id: 1, result, error } as JsonObject })).then((session) => session.listTools());
    expect(await tools({ tools: [{ name: "look" }, "x"] })).toEqual([{ name: "look" }]);
    await expect(tools(null, { code: -32603, message: "Environment does not support MCP" })).rejects.toThrow(
      /lists no tools: Environment does not support MCP/,
    );
    await expect(tools({ tools: [] })).rejects.toThrow(/has no tools/);
  });
});

describe("the address of an OpenEnv server", () => {
  it("is a public https one where the host says so", () => {
    const deployed = openEnvConnect(network(() => scriptedSocket(() => "silence"), { allowPrivate: false }));
    expect(() => deployed("https://env.example.com/a")).not.toThrow();
    for (const url of ["http://env.example.com", "https://127.0.0.1", "https://10.0.0.1", "wss://env.example.com", "x", "https://env.example.com/?a=1"])
      expect(() => deployed(url), url).toThrow(/is no public https address/);
  });

  it("is not left for another one, and a schema has its bounds", async () => {
    const asked: string[] = [];
    const fetch: OpenEnvNetwork["fetch"] = async (url, { redirect }) => {
      asked.push(`${redirect} ${url}`);
      if (url.endsWith("/health")) return new Response(null, { status: 302, headers: { location: "http://169.254.169.254/" } });
      return new Response(url.includes("deep") ? `{"action":${'{"a":'.repeat(100)}1${"}".repeat(100)}}` : `{"action":{"a":"${"x".repeat(2_000_000)}"}}`);
    };
    const server = openEnvConnect(network(() => scriptedSocket(() => "silence"), { fetch }));
    expect(await server("http://h").healthy()).toBe(false);
    await expect(server("http://h").actionSchema()).rejects.toThrow(/schema .* cannot be read: more than 1048576 bytes/);
    await expect(server("http://deep").actionSchema()).rejects.toThrow(/nested deeper/);
    expect(asked).toEqual(["manual http://h/health", "manual http://h/schema", "manual http://deep/schema"]);
  });

  it("tells what the server is: healthy, and what its actions look like", async () => {
    const bodies: Readonly<Record<string, unknown>> = { "http://h/health": {}, "http://h/schema": { action: { type: "object" } } };
    const fetch = async (url: string): Promise<Response> => Response.json(bodies[url] ?? {}, { status: url in bodies ? 200 : 404 });
    const server = openEnvConnect(network(() => scriptedSocket(() => "silence"), { fetch }));
    expect([await server("http://h").healthy(), await server("http://h/no").healthy()]).toEqual([true, false]);
    expect(await server("http://h").actionSchema()).toEqual({ type: "object" });
    await expect(server("http://h/no").actionSchema()).rejects.toMatchObject({
      code: "sandbox_error",
      message: expect.stringMatching(/\/schema .*status 404/),
    });
  });
});
