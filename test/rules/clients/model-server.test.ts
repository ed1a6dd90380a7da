import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { Stats } from "../../support/model-server/model-ledger.ts";
import type { ScriptInput } from "../../support/model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

let server: ModelServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

async function start(script: ScriptInput = {}): Promise<ModelServer> {
  server = await startModelServer(script);
  return server;
}

interface Asked {
  readonly model?: string;
  readonly system?: string;
  readonly headers?: Record<string, string>;
  readonly signal?: AbortSignal;
}

function ask(url: string, prompt: string, { model = "scripted", system, headers = {}, signal }: Asked = {}): Promise<Response> {
  const messages = [...(system === undefined ? [] : [{ role: "system", content: system }]), { role: "user", content: prompt }];
  const body = JSON.stringify({ model, messages });
  return fetch(`${url}/chat/completions`, { method: "POST", headers: { "content-type": "application/json", ...headers }, body, ...(signal ? { signal } : {}) });
}

interface Completion {
  readonly choices: readonly { readonly message: { readonly content: string | null }; readonly finish_reason: string }[];
  readonly usage?: unknown;
}
const contentOf = async (response: Response): Promise<string | null | undefined> => ((await response.json()) as Completion).choices[0]?.message.content;

describe("answers", () => {
  it("reverses the task, in tags when the prompt asks for them", async () => {
    const { url } = await start();
    expect(await contentOf(await ask(url, "héllo 👋"))).toBe("👋 olléh");
    expect(await contentOf(await ask(url, "Reverse this:\n<text>\nab c\n</text>", { system: "Answer in <reversed_text> tags." }))).toBe(
      "<reversed_text>c ba</reversed_text>",
    );
  });

  it("echoes, says a fixed text, or is wrong", async () => {
    const { url, setScript } = await start({ answer: "echo" });
    expect(await contentOf(await ask(url, "abc"))).toBe("abc");
    setScript({ answer: { text: "#### 4" } });
    expect(await contentOf(await ask(url, "2 + 2"))).toBe("#### 4");
    setScript({ answer: "wrong" });
    expect(await contentOf(await ask(url, "abc"))).not.toBe("cba");
  });

  it("is right in about the given share of requests, and in the same ones each time", async () => {
    const { url, setScript } = await start();
    const round = async (): Promise<boolean[]> => {
      setScript({ accuracy: 0.7 });
      return Promise.all(
        Array.from({ length: 300 }, async (_, index) => (await contentOf(await ask(url, `text ${index}`))) === [...`text ${index}`].reverse().join("")),
      );
    };
    const first = await round();
    expect(first.filter(Boolean).length).toBeGreaterThan(180);
    expect(first.filter(Boolean).length).toBeLessThan(240);
    expect(await round()).toEqual(first);
  });

  it("counts tokens as scripted, or not at all", async () => {
    const { url, setScript } = await start({ usage: { prompt_tokens: 7, completion_tokens: 3 } });
    expect(((await (await ask(url, "a")).json()) as Completion).usage).toEqual({ prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 });
    setScript({ usage: null });
    expect((await (await ask(url, "a")).json()) as Completion).not.toHaveProperty("usage");
  });

  it("lists its models and refuses others", async () => {
    const { url } = await start({ models: ["tiny"] });
    expect(await (await fetch(`${url}/models`)).json()).toMatchObject({ data: [{ id: "tiny" }] });
    expect((await ask(url, "a", { model: "huge" })).status).toBe(404);
  });

  it("asks for the key it was given", async () => {
    const { url } = await start({ api_key: "k" });
    expect((await ask(url, "a")).status).toBe(401);
    expect((await ask(url, "a", { headers: { authorization: "Bearer k" } })).status).toBe(200);
  });
});

describe("faults", () => {
  it.each([
    [{ kind: "status", status: 401 } as const, 401, "invalid_api_key"],
    [{ kind: "status", status: 402 } as const, 402, "payment_required"],
    [{ kind: "status", status: 403 } as const, 403, "forbidden"],
    [{ kind: "status", status: 503 } as const, 503, null],
    [{ kind: "model_not_found" } as const, 404, "model_not_found"],
    [{ kind: "insufficient_quota" } as const, 429, "insufficient_quota"],
    [{ kind: "context_length" } as const, 400, "context_length_exceeded"],
  ])("%o", async (fault, status, code) => {
    const { url } = await start({ faults: [{ fault }] });
    const response = await ask(url, "a");
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ error: { code } });
  });

  it("says when to come back, in seconds, milliseconds or as a date", async () => {
    const { url, setScript } = await start({ faults: [{ fault: { kind: "rate_limited", retry_after_s: 2 } }] });
    expect((await ask(url, "a")).headers.get("retry-after")).toBe("2");
    setScript({ faults: [{ fault: { kind: "rate_limited", retry_after_s: 0.25, retry_after_form: "milliseconds" } }] });
    expect((await ask(url, "a")).headers.get("retry-after-ms")).toBe("250");
    setScript({ faults: [{ fault: { kind: "rate_limited", retry_after_s: 2, retry_after_form: "date" } }] });
    const before = Date.now();
    const date = Date.parse((await ask(url, "a")).headers.get("retry-after") ?? "");
    // In two seconds, rounded up to a whole one.
    expect(date).toBeGreaterThanOrEqual(before + 2_000);
    expect(date).toBeLessThan(Date.now() + 3_000);
  });

  it("bends the answer", async () => {
    const { url, setScript } = await start();
    const choicesUnder = async (kind: "empty_choices" | "two_choices" | "null_content" | "empty_content" | "truncated"): Promise<Completion["choices"]> => {
      setScript({ faults: [{ fault: { kind } }] });
      return ((await (await ask(url, "ab")).json()) as Completion).choices;
    };
    expect(await choicesUnder("empty_choices")).toEqual([]);
    expect(await choicesUnder("two_choices")).toHaveLength(2);
    expect(await choicesUnder("null_content")).toMatchObject([{ message: { content: null } }]);
    expect(await choicesUnder("empty_content")).toMatchObject([{ message: { content: "" } }]);
    expect(await choicesUnder("truncated")).toMatchObject([{ message: { content: "ba" }, finish_reason: "length" }]);
    setScript({ faults: [{ fault: { kind: "malformed_json" } }] });
    await expect((await ask(url, "ab")).json()).rejects.toThrow(SyntaxError);
  });

  it("cuts the connection before the headers, or in the middle of the body", async () => {
    const { url, setScript } = await start({ faults: [{ fault: { kind: "close_before_headers" } }] });
    await expect(ask(url, "a")).rejects.toThrow();
    setScript({ faults: [{ fault: { kind: "close_mid_body" } }] });
    const response = await ask(url, "a");
    expect(response.status).toBe(200);
    await expect(response.text()).rejects.toThrow();
  });

  it("never answers until the client gives up", async () => {
    const { url, ledger } = await start({ faults: [{ fault: { kind: "never" } }] });
    const enough = new AbortController();
    const asked = ask(url, "a", { signal: enough.signal }).catch(() => "given up");
    await expect.poll(() => ledger.stats().in_flight).toBe(1);
    enough.abort();
    expect(await asked).toBe("given up");
    await expect.poll(() => ledger.stats()).toMatchObject({ in_flight: 0, outcomes: { aborted: 1 } });
  });

  it("answers nobody while it is held, and everybody then", async () => {
    const { url, ledger, hold } = await start();
    const release = hold();
    const answers = Promise.all(["ab", "cd"].map(async (text) => contentOf(await ask(url, text))));
    await expect.poll(() => ledger.stats().in_flight).toBe(2);
    await sleep(20);
    expect(ledger.stats()).toMatchObject({ in_flight: 2, outcomes: {} });
    release();
    expect(await answers).toEqual(["ba", "dc"]);
  });

  it("is late with headers or body", async () => {
    const { url, ledger, setScript } = await start({ faults: [{ fault: { kind: "slow_headers", ms: 80 } }] });
    let begun = performance.now();
    await ask(url, "a");
    expect(performance.now() - begun).toBeGreaterThan(70);
    setScript({ faults: [{ fault: { kind: "slow_body", ms: 80 } }] });
    begun = performance.now();
    expect(await contentOf(await ask(url, "ab"))).toBe("ba");
    expect(performance.now() - begun).toBeGreaterThan(70);
    // Its headers are there long before.
    setScript({ faults: [{ fault: { kind: "slow_body", ms: 60_000 } }] });
    const enough = new AbortController();
    const response = await ask(url, "abc", { signal: enough.signal });
    expect([response.status, ledger.stats().in_flight]).toEqual([200, 1]);
    enough.abort();
    await expect(response.text()).rejects.toThrow();
  });

  it("strikes where the script says", async () => {
    const fault = { kind: "status", status: 500 } as const;
    const { url, setScript } = await start();
    const statuses = async (prompts: readonly string[]): Promise<number[]> => {
      const seen: number[] = [];
      for (const prompt of prompts) seen.push((await ask(url, prompt)).status);
      return seen;
    };
    setScript({ faults: [{ when: { nth: [1, 3] }, fault }] });
    expect(await statuses(["a", "b", "c", "d"])).toEqual([500, 200, 500, 200]);
    setScript({ faults: [{ when: { every: 2 }, fault }] });
    expect(await statuses(["a", "b", "c", "d"])).toEqual([200, 500, 200, 500]);
    setScript({ faults: [{ when: { attempt: 1 }, fault }] });
    expect(await statuses(["a", "a", "b", "b"])).toEqual([500, 200, 500, 200]);
    setScript({ faults: [{ when: { contains: "bad" }, fault, limit: 1 }] });
    expect(await statuses(["good", "bad", "bad"])).toEqual([200, 500, 200]);
    setScript({ faults: [{ when: { during_ms: [0, 60_000] }, fault }] });
    expect(await statuses(["a"])).toEqual([500]);
    setScript({ faults: [{ when: { during_ms: [60_000, 90_000] }, fault }] });
    expect(await statuses(["a"])).toEqual([200]);
  });

  it("refuses connections while it is down and is there again after", async () => {
    const { url, goDown, comeUp } = await start();
    await ask(url, "a");
    await goDown();
    await expect(ask(url, "a")).rejects.toThrow();
    await comeUp();
    expect((await ask(url, "a")).status).toBe(200);
  });
});

describe("ledger", () => {
  it("knows how many requests were in flight at once", async () => {
    const { url, ledger } = await start({ latency_ms: 40 });
    await Promise.all(["a", "b", "c"].map((prompt) => ask(url, prompt)));
    await ask(url, "d");
    expect(ledger.stats()).toMatchObject({ total: 4, peak_in_flight: 3, in_flight: 0, outcomes: { answered: 4 } });
  });

  it("counts repeated calls per prompt and session, for one model or all", async () => {
    const { url, ledger } = await start();
    await ask(url, "a", { headers: { "x-session-id": "1" } });
    await ask(url, "a", { headers: { "x-session-id": "1" } });
    await ask(url, "a", { headers: { "x-session-id": "2" } });
    await ask(url, "b", { model: "other" });
    expect(ledger.calls()).toEqual([
      { prompt: "a", session: "1", count: 2 },
      { prompt: "a", session: "2", count: 1 },
      { prompt: "b", session: null, count: 1 },
    ]);
    expect(ledger.stats()).toMatchObject({ total: 4, prompts: 2, repeated: 1 });
    expect(ledger.stats("other")).toMatchObject({ total: 1, repeated: 0 });
  });

  it("is read, cleared and scripted over HTTP", async () => {
    const { url, controlUrl } = await start();
    await ask(url, "a");
    const stats = async (query = ""): Promise<Stats & { requests?: unknown[]; calls?: unknown[] }> =>
      (await (await fetch(`${controlUrl}/stats${query}`)).json()) as Stats;
    expect(await stats()).toMatchObject({ total: 1 });
    expect((await stats("?requests=1&calls=1")).requests).toHaveLength(1);
    await fetch(`${controlUrl}/stats`, { method: "DELETE" });
    expect(await stats()).toMatchObject({ total: 0 });
    await fetch(`${controlUrl}/script`, { method: "POST", body: JSON.stringify({ answer: "echo" }) });
    expect(await contentOf(await ask(url, "ab"))).toBe("ab");
    const refused = await fetch(`${controlUrl}/script`, { method: "POST", body: JSON.stringify({ latency: 5 }) });
    expect(refused.status).toBe(400);
    expect(await refused.text()).toContain("latency");
  });

  it("goes down for a while when told over HTTP", async () => {
    const { url, controlUrl } = await start();
    await fetch(`${controlUrl}/down`, { method: "POST", body: JSON.stringify({ ms: 700 }) });
    const status = async (): Promise<number> => (await ask(url, "a").catch(() => null))?.status ?? 0;
    await expect.poll(status, { interval: 10 }).toBe(0);
    await expect.poll(status, { timeout: 10_000 }).toBe(200);
  });
});

describe("as a process", () => {
  it("prints its address and ends with its standard input", async () => {
    const child = spawn(process.execPath, ["test/support/model-server/model-server-cli.ts", "--answer", "text:hi"], { stdio: ["pipe", "pipe", "inherit"] });
    const [line] = (await once(createInterface(child.stdout), "line")) as [string];
    const { url } = JSON.parse(line) as { url: string };
    expect(await contentOf(await ask(url, "a"))).toBe("hi");
    child.stdin.end();
    expect(await once(child, "exit")).toEqual([0, null]);
  });

  it("lends its address to a command and exits with the command's code", async () => {
    const script = "process.exit(process.argv[1] === process.env.EDGEWISE_DEMO_URL ? 7 : 1)";
    const child = spawn(process.execPath, ["test/support/model-server/with-model-server.ts", "--", process.execPath, "-e", script, "{url}"], {
      stdio: "inherit",
    });
    expect(await once(child, "exit")).toEqual([7, null]);
  });
});
