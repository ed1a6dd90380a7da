import { reset } from "cloudflare:test";
import { parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { ExportPlace } from "../../../src/exporting/export-place.ts";
import { makeExport } from "../../../src/exporting/make-export.ts";
import recorded from "../../fixtures/hub-clients/read.json";
import { Fleet } from "../support/fleet.ts";
import { deploy, Door, OWNER_TOKEN, undeploy } from "../support/people.ts";
import { createRun, viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, service, setVars, silenceQueue, STEADY } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const app = createApp(portsOf);
const queue = service.EXPORTS;
let fleet: Fleet | null = null;

beforeEach(() => {
  setVars(STEADY);
  deploy();
  // Nobody takes what is sent unless a test does.
  Object.assign(service, { EXPORTS: { send: async () => undefined }, HUB_WAIT_MS: "200" });
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  undeploy();
  Object.assign(service, { EXPORTS: queue });
  delete (service as { HUB_WAIT_MS?: string }).HUB_WAIT_MS;
  await reset();
});

const ask = (path: string, init: RequestInit & { readonly headers?: Record<string, string> } = {}): Promise<Response> =>
  Promise.resolve(
    app.request(
      `https://edgewise.example${path}`,
      { ...init, headers: { authorization: `Bearer ${OWNER_TOKEN}`, ...init.headers }, redirect: "manual" },
      service,
    ),
  );

const row = (unit: number): string =>
  `{"example_id":${unit},"prompt":[{"role":"user","content":"${unit}?"}],"completion":[],"reward":1.0,"error":null,"metrics":{},"rollout_index":0}\n`;

/** Id of a settled run of so many rows; its export is not made. */
async function settledRun(units: number): Promise<string> {
  const { run_id } = await storedRun(units, { lineOf: row });
  fleet = new Fleet({ model: new ScriptedModel() });
  await run(run_id).poke();
  await fleet.settled(run_id);
  return run_id;
}

interface Info {
  readonly sha: string;
  readonly siblings: readonly { readonly rfilename: string; readonly size: number; readonly lfs: { readonly sha256: string } }[];
}
const infoOf = async (id: string): Promise<Info> => (await ask(`/api/datasets/edgewise/${id}`)).json();

/** Fields of an answer with the kinds of their values; of a list its first. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [shapeOf(value[0])];
  if (typeof value === "object" && value !== null) return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, shapeOf(each)]));
  return value === null ? "null" : typeof value;
}

interface Recorded {
  readonly method: string;
  readonly path: string;
  readonly headers: Record<string, string>;
  readonly body?: string;
  readonly status: number;
  readonly missing?: string;
  readonly shape?: unknown;
}

describe("a settled run as a data set of the Hub", () => {
  it("answers every request that its clients were seen to make as it did then", { timeout: 60_000 }, async () => {
    const id = await settledRun(40);
    await ask(`/api/v1/evaluations/${id}/export`);
    await makeExport(service, id);
    const { sha, siblings } = await infoOf(id);
    const files = new Map(siblings.map((file) => [file.rfilename, file]));
    const whole = new Map<string, Uint8Array>();
    for (const path of files.keys()) whole.set(path, new Uint8Array(await (await ask(`/datasets/edgewise/${id}/resolve/${sha}/${path}`)).arrayBuffer()));
    const data = whole.get("data/train-00000-of-00001.parquet") ?? new Uint8Array();
    expect(await parquetReadObjects({ file: data.slice().buffer })).toHaveLength(40);
    for (const [path, { size, lfs }] of files) {
      const bytes = whole.get(path) ?? new Uint8Array();
      expect([path, bytes.byteLength, await sha256Hex(bytes)]).toEqual([path, size, lfs.sha256]);
    }
    const named = (text: string): string =>
      text
        .replaceAll("{run}", id)
        .replaceAll("{sha}", sha)
        .replaceAll("{missing}", "0000dead")
        .replaceAll("{last}", String(data.byteLength - 1));
    for (const { method, path, headers, body, status, missing, shape } of recorded.requests as unknown as readonly Recorded[]) {
      const sent = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, named(value)]));
      const answer = await ask(named(path), { method, headers: sent, ...(body === undefined ? {} : { body: named(body) }) });
      const about = `${method} ${path} ${headers.range ?? ""}`;
      expect([answer.status, answer.headers.get("x-error-code")], about).toEqual([status, missing ?? null]);
      if (status >= 400) {
        expect(answer.headers.get("x-error-message"), about).toMatch(/\w/);
        continue;
      }
      if (shape !== undefined) {
        expect(shapeOf(await answer.json()), about).toEqual(shape);
        continue;
      }
      const file = /\/resolve\/[^/]+\/(.*)$/.exec(path)?.[1] ?? "";
      const bytes = whole.get(file) ?? new Uint8Array();
      const from = Number(/bytes=(\d+)-/.exec(headers.range ?? "")?.[1] ?? 0);
      const { headers: got } = answer;
      expect([got.get("x-repo-commit"), got.get("etag"), got.get("accept-ranges")], about).toEqual([sha, `"${files.get(file)?.lfs.sha256}"`, "bytes"]);
      expect(got.get("content-length"), about).toBe(String(bytes.byteLength - from));
      const read = new Uint8Array(await answer.arrayBuffer());
      expect(read, about).toEqual(method === "HEAD" ? new Uint8Array() : bytes.slice(from));
    }
  });

  it("is waited for by who asks first: the request is sent round until the files are there", { timeout: 60_000 }, async () => {
    const id = await settledRun(10);
    const first = await ask(`/datasets/edgewise/${id}/resolve/main/README.md`, { method: "HEAD" });
    expect([first.status, first.headers.get("location")]).toEqual([307, `/datasets/edgewise/${id}/resolve/main/README.md?edgewise_round=1`]);
    const last = await ask(`/api/datasets/edgewise/${id}?edgewise_round=18`);
    expect([last.status, last.headers.get("retry-after")]).toEqual([503, "30"]);
    expect(last.headers.get("x-error-message")).toContain("still being made");
    Object.assign(service, { HUB_WAIT_MS: "20000" });
    const waiting = ask(first.headers.get("location") ?? "", { method: "HEAD" });
    await makeExport(service, id);
    expect((await waiting).status).toBe(200);
  });

  it("made by a version that kept no digests is made again", async () => {
    const id = await settledRun(10);
    const place = new ExportPlace(service.BUCKET, (await viewOf(id)).config, (await viewOf(id)).generation);
    await ask(`/api/v1/evaluations/${id}/export`);
    await makeExport(service, id);
    const { sha } = await infoOf(id);
    const { state, etag } = (await place.state()) ?? {};
    if (state === undefined || etag === undefined) throw new Error("no export");
    const { card_sha256: _, ...before } = state;
    await place.store({ ...before, files: state.files.map(({ rows, bytes }) => ({ rows, bytes })) }, etag);
    expect((await ask(`/api/v1/evaluations/${id}/export`)).status).toBe(202);
    await makeExport(service, id);
    expect((await infoOf(id)).sha).toBe(sha);
  });

  it("is none before the run has ended, for who may not read it, and of another revision", async () => {
    silenceQueue();
    const { run_id } = await createRun({ num_examples: 2 });
    const early = await ask(`/api/datasets/edgewise/${run_id}`);
    expect([early.status, early.headers.get("x-error-code"), ((await early.json()) as { error: string }).error]).toEqual([
      404,
      "RepoNotFound",
      `The run ${run_id} has not ended (PENDING): it is a data set when it has.`,
    ]);
    const door = new Door();
    await door.join("ada", ["acme"]);
    const ada = await door.token("ada", ["acme"], ["admin"]);
    for (const owner of ["edgewise", "default", "acme", "nobody"]) {
      const answer = await door.call(ada, "GET", `//api/datasets/${owner}/${run_id}`);
      expect([owner, answer.status, answer.headers.get("x-error-code")]).toEqual([owner, 404, "RepoNotFound"]);
      await answer.arrayBuffer();
    }
    expect(await (await door.call(ada, "GET", "//api/whoami-v2")).json()).toMatchObject({ name: "ada", orgs: [{ name: "acme" }] });
    // A path that is none is no such data set.
    expect((await ask("/datasets/edgewise/..%2f..%2f/resolve/main/x")).status).toBe(404);
  });
});
