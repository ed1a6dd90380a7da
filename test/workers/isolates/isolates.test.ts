import { afterEach, expect, it } from "vitest";
import { BUILT_LIBRARY } from "../../../src/isolates/built-library.ts";
import { openIsolate, type IsolateChannel, type IsolateHost } from "../../../src/isolates/open-isolate.ts";
import { IsolateNames } from "../../../src/isolates/isolate-names.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { loaderOf } from "../../../src/env.ts";
import { isolateHostOf } from "../../../src/isolates/isolate-host.ts";
import { service } from "../support/service.ts";

const names = new IsolateNames();
function hostOf(): IsolateHost {
  const loader = loaderOf(service);
  if (loader === null || BUILT_LIBRARY === null) throw new Error("no isolates here");
  return { loader, library: BUILT_LIBRARY, names, dropsIdle: true, outbound: () => { throw new Error("none"); } };
}
const opened: IsolateChannel[] = [];
afterEach(() => { for (const each of opened.splice(0)) each.close(); });

async function openWith(text: string, team = "acme", hosts: string[] = []) {
  const code = { text, map: "", digest: await sha256Hex(text) };
  const channel = await openIsolate(hosts.length ? isolateHostOf(service) : hostOf(), { team, code, hosts, secrets: {} });
  opened.push(channel);
  return channel;
}
const asked = (channel: IsolateChannel, message: unknown) => new Promise<any>((resolve) => { channel.onBatch = ([first]) => resolve(first); channel.onBroken = resolve; channel.send([message]); });

const ENV = (top = "") => `import { defineEnvironment, z } from "./lib/index.js";
${top}
export default defineEnvironment({ id: "x", version: "1", description: "d", args: z.object({}), load() { throw new Error("no"); } });`;

it("echoes", async () => {
  const t0 = Date.now();
  const channel = await openWith(ENV());
  console.log("opened", Date.now() - t0);
  expect(await asked(channel, { a: 1 })).toEqual({ type: "echo", id: "x", batch: [{ a: 1 }] });
  console.log("asked", Date.now() - t0);
  const again = await openWith(ENV());
  expect(await asked(again, { a: 2 })).toMatchObject({ type: "echo" });
  console.log("again", Date.now() - t0);
});
it("fails", async () => {
  for (const text of ["export default 1 +;", ENV("\nthrow new Error('boom');"), "import { nothing } from './lib/index.js'; console.log(nothing)"]) {
    try { console.log(await asked(await openWith(text), {})); } catch (e) { console.log("OPEN", String(e)); }
  }
});

it("dies", async () => {
  const channel = await openWith(ENV("globalThis.n = (globalThis.n ?? 0) + 1; console.log('hello');"));
  console.log(await asked(channel, {}));
  const two = await openWith(ENV("globalThis.n = (globalThis.n ?? 0) + 1; console.log('hello');"));
  let broken: any = null;
  channel.onBroken = (r) => { broken = r; };
  two.drop();
  await new Promise((r) => setTimeout(r, 300));
  console.log("broken after drop by another, nothing under way:", broken);
  channel.onBatch = (b) => console.log("still", b);
  channel.send([{ b: 1 }]);
  await new Promise((r) => setTimeout(r, 300));
  console.log("after send:", broken);
});


it("outbound", async () => {
  const probe = `import { defineEnvironment, z } from "./lib/index.js";
  const tell = async (f) => { try { return "OK " + String(await f()).slice(0, 300); } catch (e) { return "no: " + e.message; } };
  const all = async () => { const found = {};
  for (const [n, f] of Object.entries({
    fetch: async () => { const r = await fetch("https://example.com"); return r.status + await r.text(); },
    allowed: async () => { const r = await fetch("https://api.example.com/ok", { method: "POST", body: "hello", headers: { authorization: "x" } }); return r.status + await r.text(); },
    redirected: async () => { const r = await fetch("https://api.example.com/aside"); return r.status + await r.text(); },
    redirectedOk: async () => { const r = await fetch("https://api.example.com/back"); return r.status + await r.text(); },
    manual: async () => { const r = await fetch("https://api.example.com/aside", { redirect: "manual" }); return r.status + r.headers.get("location"); },
    big: async () => { const r = await fetch("https://api.example.com/big"); return r.status + " " + (await r.text()).length; },
    streamed: async () => { const r = await fetch("https://api.example.com/streamed"); return r.status + " " + (await r.text()).length; },
    sends: async () => { const r = await fetch("https://api.example.com/ok", { method: "POST", body: "x".repeat(17 * 1024 * 1024) }); return r.status; },
    ws: () => new Promise((ok, no) => { const w = new WebSocket("wss://api.example.com"); w.addEventListener("open", ok); w.addEventListener("error", (e) => no(new Error("ws " + e.message))); }),
    connect: async () => (await import("cloudflare:sockets")).connect("api.example.com:443").opened,
  })) found[n] = await tell(f);
  return found; };
  const made = defineEnvironment({ id: "x", version: "1", description: "d", args: z.object({}), load() { throw new Error("no"); } });
  export default { ...made, then: undefined, probe: all };`;
  const MIB = 1024 * 1024;
  Object.assign(service, { NETWORK: { fetch: async (r: Request) => {
    const path = new URL(r.url).pathname;
    if (path === "/aside") return Response.redirect("http://169.254.169.254/latest", 302);
    if (path === "/back") return Response.redirect("https://api.example.com/ok", 302);
    if (path === "/big") return new Response("x".repeat(17 * MIB));
    if (path === "/streamed") { let n = 0; return new Response(new ReadableStream({ pull(c) { if (n++ > 20) c.close(); else c.enqueue(new Uint8Array(MIB)); } })); }
    return new Response(JSON.stringify([r.url, r.method, await r.text(), [...r.headers]]));
  } } });
  const channel = await openWith(probe, "acme", ["api.example.com"]);
  console.log(await asked(channel, { probe: 1 }));
});
