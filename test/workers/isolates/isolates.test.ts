import { describe, expect, it } from "vitest";
import { isolateHostOf } from "../../../src/isolates/isolate-host.ts";
import { type IsolateHost, type IsolatePlan, openIsolate } from "../../../src/isolates/open-isolate.ts";
import { infoOf, isolated, telling } from "../support/isolated.ts";
import { service } from "../support/service.ts";

/** What each of these comes to, or is refused with. */
const tried = (attempts: Readonly<Record<string, string>>): string => `(async () => {
  const found = {};
  for (const [name, attempt] of Object.entries({ ${Object.entries(attempts)
    .map(([name, body]) => `${name}: async () => { ${body} }`)
    .join(", ")} })) {
    try { found[name] = "reached: " + String(await attempt()).slice(0, 200); } catch (error) { found[name] = "refused: " + error.message; }
  }
  return found;
})()`;

describe("code of an environment in an isolate of its own", () => {
  it("reaches no network, by whatever way", async () => {
    const info = await infoOf(
      telling(
        tried({
          fetch: 'await fetch("https://example.com")',
          loopback: 'await fetch("http://127.0.0.1:80/")',
          metadata: 'await fetch("http://169.254.169.254/latest/meta-data/")',
          socket: 'await (await import("cloudflare:sockets")).connect("1.1.1.1:80").opened',
          net: 'const net = await import("node:net"); await new Promise((ok, no) => net.connect(80, "1.1.1.1").once("connect", ok).once("error", no))',
          http: 'const http = await import("node:http"); await new Promise((ok, no) => http.get("http://example.com", ok).once("error", no))',
          websocket:
            'await new Promise((ok, no) => { const w = new WebSocket("wss://example.com"); w.onopen = ok; w.onerror = (e) => no(new Error("closed")); })',
          cache: 'await (await caches.open("x")).match("https://example.com/")',
          dns: 'await (await import("node:dns/promises")).lookup("example.com")',
        }),
      ),
    );
    expect(Object.keys(info)).toHaveLength(9);
    for (const outcome of Object.values(info)) expect(outcome).toMatch(/^refused: /);
  });

  it("finds no binding, variable, secret, file or process of the service, and makes no code", async () => {
    const info = await infoOf(
      telling(
        tried({
          env: 'return JSON.stringify((await import("cloudflare:workers")).env)',
          exports: 'return Object.keys((await import("cloudflare:workers")).exports)',
          variables: "return JSON.stringify(process.env)",
          files: 'return (await import("node:fs")).readFileSync("/etc/passwd")',
          process: 'return (await import("node:child_process")).execSync("id")',
          eval: 'return (0, eval)("1 + 1")',
          wasm: "return new WebAssembly.Module(new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]))",
          modules: 'return await import("./lib/worker.js")',
        }),
      ),
    );
    const { env, exports, variables, ...rest } = info;
    expect([env, exports, variables]).toEqual(["reached: {}", "reached: ", "reached: {}"]);
    for (const outcome of Object.values(rest)) expect(outcome).toMatch(/^refused: /);
  });

  it("replaces what it shares with the service's own code in its own copy alone", async () => {
    const top = `JSON.stringify = () => "mine"; Promise.prototype.mine = 1; String.prototype.trim = () => "mine"; Headers.prototype.set = () => "mine"; globalThis.mine = 1;`;
    await infoOf(telling("({})", `${top.replace('JSON.stringify = () => "mine"; ', "")}`));
    expect([JSON.stringify({}), "mine" in Promise.prototype, " x ".trim(), "mine" in globalThis]).toEqual(["{}", false, "x", false]);
    const headers = new Headers();
    headers.set("a", "b");
    expect(headers.get("a")).toBe("b");
  });

  const COUNTS = telling("({ seen: ++globalThis.seen })", "globalThis.seen = 0;");

  it("is loaded once for a team and begun again warm; another team, or other keys, have a copy of their own", async () => {
    const seen = async (options: Parameters<typeof infoOf>[1]) => (await infoOf(COUNTS, options)).seen;
    expect([await seen({ team: "one" }), await seen({ team: "one" }), await seen({ team: "two" })]).toEqual([1, 2, 1]);
    expect([await seen({ team: "one", keys: { A_KEY: "first" } }), await seen({ team: "one", keys: { A_KEY: "other" } })]).toEqual([1, 1]);
    expect([await seen({ team: "one", keys: { A_KEY: "first" } }), await seen({ team: "one" })]).toEqual([2, 3]);
  });

  it("is named with file and line where it does not parse, throws when it is loaded, or asks for what the library has not", async () => {
    const failure = async (text: string, map = "") =>
      (await isolated(text, { map })).check({ env_args: {} }).catch((thrown: Error & { code?: string }) => `${thrown.code}: ${thrown.message}`);
    expect(await failure("export default 1 +;")).toMatch(/^environment_failed: .*Unexpected token ';' at environment\.js:1:18$/);
    expect(await failure(telling("({})", "throw new RangeError('not today');"))).toMatch(/^environment_failed: .*not today/);
    // Each line is a line of the source.
    const map = JSON.stringify({ version: 3, sources: ["my_env/my_env.ts"], names: [], mappings: "AAAA;AACA;AACA;AACA" });
    expect(await failure(telling("({})", "throw new RangeError('nor tomorrow');"), map)).toMatch(/nor tomorrow \(my_env\/my_env\.ts:2:1\)/);
    expect(await failure('import { nothing } from "./lib/index.js"; console.log(nothing);')).toMatch(/^environment_failed: .*nothing/);
  });
});

const plan = (text: string, changes: Partial<IsolatePlan> = {}): IsolatePlan => ({
  team: "acme",
  code: { text, map: "", digest: `${text.length}` },
  hosts: [],
  secrets: {},
  ...changes,
});
const failureOf = (work: Promise<unknown>): Promise<unknown> => work.then(() => "begun").catch((thrown: { code?: unknown }) => thrown.code);

describe("an isolate", () => {
  it("that could not be started is tried anew by who comes next, though the platform remembers that it could not", async () => {
    const host = isolateHostOf(service);
    const broken = { ...host, library: { ...host.library, modules: { ...host.library.modules, "lib/runner.js": "this is no module" } } };
    const code = plan(telling("({})", "// started anew"));
    expect(await failureOf(openIsolate(broken, code))).toBe("sandbox_error");
    const channel = await openIsolate(host, code);
    channel.close();
  });

  const RUNNER = (begin: string): string => `import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
class Session extends RpcTarget { deliver() {} over() { return new Promise((resolve) => setTimeout(resolve, 60_000)); } }
export const isolateEntrypoint = () => class extends WorkerEntrypoint {
  async begin(host) { const kept = host.dup(); setTimeout(async () => { try { ${begin} } catch {} }, 1); return new Session(); }
  drop() {}
};`;

  it.each([
    ["is no text", "await kept.deliver(new Map([[1, 2]]))", "a batch is a text"],
    ["has functions in it", "await kept.deliver([{ type: () => 1 }])", "a batch is a text"],
    ["is no JSON", 'await kept.deliver("{")', "what is no batch"],
    ["is no list", 'await kept.deliver("{}")', "a batch is an array"],
    ["is larger than any may be", 'await kept.deliver("x".repeat(13 * 1024 * 1024))', "characters at once"],
  ])("whose batch %s is broken by that, as its environment's fault", async (_, begin, words) => {
    const host = isolateHostOf(service);
    const lying: IsolateHost = { ...host, library: { digest: begin, modules: { "lib/runner.js": RUNNER(begin) } } };
    const channel = await openIsolate(lying, plan("export default 1;"));
    const batches: unknown[] = [];
    channel.onBatch = (batch) => batches.push(batch);
    const { code, message } = await new Promise<{ code: string; message: string }>((resolve) => {
      channel.onBroken = resolve;
    });
    expect([code, message]).toEqual(["environment_error", expect.stringContaining(words)]);
    expect(batches).toEqual([]);
  });

  it("that begins no session any more is given up in time, and another is begun for who comes next", async () => {
    const runner = `import { RpcTarget, WorkerEntrypoint } from "cloudflare:workers";
let sessions = 0;
class Session extends RpcTarget { over() { return new Promise((resolve) => setTimeout(resolve, 60_000)); } }
export const isolateEntrypoint = () => class extends WorkerEntrypoint {
  async begin() { if (++sessions > 1) await new Promise((resolve) => setTimeout(resolve, 60_000)); return new Session(); }
  drop() {}
};`;
    const host: IsolateHost = { ...isolateHostOf(service), beginMs: 500, library: { digest: "begins once", modules: { "lib/runner.js": runner } } };
    const code = plan("export default 1;");
    const first = await openIsolate(host, code);
    await expect(openIsolate(host, code)).rejects.toMatchObject({
      code: "sandbox_error",
      message: expect.stringContaining("began no session within") as string,
    });
    const again = await openIsolate({ ...host, beginMs: 10_000 }, code);
    first.close();
    again.close();
  });

  it("that a deployment cannot make is refused with what it lacks", () => {
    expect(() => isolateHostOf({ ...service, LOADER: undefined } as never)).toThrow(/\[\[worker_loaders\]\]/);
  });
});
