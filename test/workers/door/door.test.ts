import { reset } from "cloudflare:test";
import { env } from "cloudflare:workers";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import type { Env } from "../../../src/env.ts";

/** The door over the real bindings. Runs are attended by a boot that is gone, so that no executor works on them meanwhile. */
const app = createApp(portsOf);
const local = { ...(env as unknown as Env), LOCAL: "1", BOOT_ID: "gone", COMMAND_SECRET: "proof", LOCAL_SECRETS: { PRIME_API_KEY: "sk-secret" } } as Env;
const ATTENDED = { "x-edgewise-attended": "proof" };

const call = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Response> =>
  app.request(
    `http://localhost/api/v1${path}`,
    {
      method,
      headers: { ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    },
    local,
  );
const json = async (response: Promise<Response>): Promise<Record<string, unknown>> => (await response).json();

async function create(headers: Record<string, string> = {}): Promise<string> {
  const body = { environment_ids: ["reverse-text"], inference_model: "m", eval_config: { num_examples: 2, rollouts_per_example: 2 } };
  const answer = await json(call("POST", "/hosted-evaluations", body, { ...ATTENDED, ...headers }));
  expect(answer).toEqual({ evaluation_id: expect.any(String), evaluation_ids: [answer.evaluation_id] });
  return String(answer.evaluation_id);
}

afterEach(() => reset());

describe("a run", () => {
  it("is created, looked at, listed, cancelled and deleted", async () => {
    const id = await create();
    expect(await json(call("GET", `/evaluations/${id}`))).toMatchObject({
      evaluation_id: id,
      status: "PENDING",
      edgewise: { phase: "preparing", settled: false },
    });
    await vi.waitFor(
      async () => expect(await json(call("GET", "/evaluations/"))).toMatchObject({ total: 1, evaluations: [{ evaluation_id: id, status: "PENDING" }] }),
      20_000,
    );
    expect((await call("PATCH", `/hosted-evaluations/${id}/cancel`)).status).toBe(200);
    expect(await json(call("GET", `/evaluations/${id}`))).toMatchObject({ status: "CANCELLED" });

    const other = await create();
    expect((await call("DELETE", `/evaluations/${other}`)).status).toBe(200);
    expect((await call("GET", `/evaluations/${other}`)).status).toBe(404);
    await vi.waitFor(async () => expect(await json(call("GET", "/evaluations/"))).toMatchObject({ total: 1 }), 20_000);
    expect(await local.BUCKET.head(`runs/${other}/config.json`)).toBeNull();
  });

  it("is one for one idempotency key, however many ask at the same time", async () => {
    const ids = await Promise.all(Array.from({ length: 8 }, () => create({ "idempotency-key": "once" })));
    expect(new Set(ids).size).toBe(1);
    expect(await create()).not.toBe(ids[0]);
  });

  it("leaves its config in R2, without the key", async () => {
    const id = await create();
    const text = await (await local.BUCKET.get(`runs/${id}/config.json`))?.text();
    expect(JSON.parse(text ?? "")).toMatchObject({ run_id: id, env_id: "reverse-text", api_key_var: "PRIME_API_KEY" });
    expect(text).not.toContain("sk-secret");
  });

  it("tells its events and its log, and can be interrupted and resumed", async () => {
    const id = await create();
    expect(await json(call("POST", `/evaluations/${id}/interrupt`))).toMatchObject({ message: expect.any(String) });
    expect(await json(call("GET", `/evaluations/${id}`))).toMatchObject({ edgewise: { suspended: true } });
    expect(await json(call("POST", `/evaluations/${id}/resume`, { expect: { model: "other" } }, ATTENDED))).toMatchObject({ code: "resume_mismatch" });
    expect(await json(call("POST", `/evaluations/${id}/resume`, { expect: { model: "m" } }, ATTENDED))).toMatchObject({ evaluation_id: id, warnings: [] });

    const reader = ((await call("GET", `/evaluations/${id}/events`)).body as ReadableStream<Uint8Array>).pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    while (!text.includes("event: progress")) text += (await reader.read()).value ?? "";
    await reader.cancel();
    expect(text).toMatch(/^retry: 100\n\nid: 1\nevent: log\n/);
    expect(await (await call("GET", `/evaluations/${id}/files/eval.log`)).text()).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d - edgewise\.run - /);
    expect(await json(call("GET", `/evaluations/${id}/files/metadata.json`))).toMatchObject({ env_id: "reverse-text", model: "m" });
    const rows = await call("GET", `/evaluations/${id}/rows`);
    expect([rows.status, await rows.text(), rows.headers.get("x-edgewise-more")]).toEqual([200, "", "0"]);
  });
});

describe("an upload through the door", () => {
  const bytes = new Uint8Array(2_000_000).fill(66);
  const put = async (digest: string): Promise<Response> =>
    app.request(`http://localhost/api/v1/datasets/${digest}`, { method: "PUT", body: bytes, headers: { "content-length": String(bytes.byteLength) } }, local);

  it("is stored under its digest, once", async () => {
    const digest = [...new Uint8Array(await crypto.subtle.digest("SHA-256", bytes))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
    expect((await call("HEAD", `/datasets/${digest}`)).status).toBe(404);
    expect((await put(digest)).status).toBe(201);
    expect((await put(digest)).status).toBe(200);
    expect((await call("HEAD", `/datasets/${digest}`)).status).toBe(200);
    expect((await put("0".repeat(64))).status).toBe(422);
  });
});
