import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import type { RunView } from "../../../durable-objects/run/control.ts";
import type { StoredEvent } from "../../../src/logging/stored-event.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { AppFacts } from "../../../src/api/app-ports.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const ID = CONFIG.run_id;
const PAGE = `//dashboard/evaluations/${ID}`;
const log = (seq: number, message: string): StoredEvent => ({ seq, time: 1_790_000_000_000, type: "log", level: "INFO", message, rollouts: 0 });

function doorWith(changes: Partial<RunView> = {}, config: Partial<RunConfig> = {}, facts: Partial<AppFacts> = {}): Door {
  const door = openDoor(facts);
  door.run(ID).state = viewFor({ ...CONFIG, ...config }, changes);
  return door;
}
const page = async (door: Door): Promise<string> => (await door.call("GET", PAGE)).text();
const basic = (password: string): Record<string, string> => ({ authorization: `Basic ${Buffer.from(`me:${password}`).toString("base64")}` });

describe("the page of a run", () => {
  it("says what its requests wait for, and nothing where none does", async () => {
    const limited = { bound: { kind: "requests", limit: 500, source: "told" }, base_url: "https://api.openai.com/v1" } as const;
    const vitals = { in_flight: 8, retries: 0, waiting: 12, paused_until: null, limited };
    expect(await page(doorWith({ vitals }))).toContain("<th>Waiting</th><td>12 requests for OpenAI&#39;s 500 requests a minute</td>");
    expect(await page(doorWith({ vitals: { ...vitals, waiting: 0 } }))).not.toContain("Waiting");
  });

  it("shows status, totals, error, log tail, and links to the files", async () => {
    const totals = {
      ...viewFor(CONFIG).totals,
      rollouts: 40,
      reward_sum: 30,
      reward_sum_without_errors: 30,
      input_tokens: 4_000,
      output_tokens: 8,
      errors: { rate_limited: 1 },
      metrics: { correct: { sum: 30, count: 40 } },
    };
    const failure = { code: "auth_failed", message: "The key was refused.", hint: "Check it." } as const;
    const door = doorWith({
      status: "FAILED",
      phase: "settled",
      failure,
      totals,
      units: { total: 2, done: 2, open: 0, pending: 0 },
      ended_at: CONFIG.created_at,
    });
    door.run(ID).stored = [log(1, "first line"), log(2, "second line")];
    const scores = {
      reward_ci95: [0.5, 0.9] as const,
      n_clusters: 2,
      pass_at_k: { 1: 0.75, 2: 0.875 },
      pass_at_k_ci95: { 1: null, 2: [0.8, 0.95] as const },
      metric_estimates: { correct: { n: 2, mean: 0.75, stderr: 0.1, ci95: [0.7, 0.8] as const } },
    };
    const facts = { dataset_name: "rows.jsonl", scores };
    const config = { ...CONFIG, extra_env_kwargs: { max_turns: 5 }, cluster_by: "passage" };
    door.run(ID).state = { ...(door.run(ID).state as RunView), config, ...facts };
    const text = await page(door);
    for (const shown of [
      "rows.jsonl (rows dddddddddddd)",
      "{&quot;max_turns&quot;:5}",
      "0.750 (95 % interval 0.500 to 0.900 over 2 values of passage)",
      "0.750 (95 % interval 0.700 to 0.800)",
      "0.750 to 0.775, as 2.5 % of the rollouts have no score (0.769 over the others)",
      "0.875 (95 % interval 0.800 to 0.950)",
      "Clustered by",
      "pass@2",
      "0.875",
      "FAILED",
      "The key was refused. Check it.",
      "openai/gpt-4.1-mini",
      "4 of 4 done",
      "0.750",
      "correct",
      "rate_limited (1)",
      "4,000 in, 8 out",
      "first line\n",
    ]) {
      expect(text).toContain(shown);
    }
    for (const file of ["results.jsonl", "metadata.json", "eval.log"]) expect(text).toContain(`<a href="/dashboard/evaluations/${ID}/files/${file}">`);
    expect(text).not.toContain("http-equiv");
  });

  it("leads with the range of what the reward may be beyond 5 % of rollouts without a score", async () => {
    const totals = { ...viewFor(CONFIG).totals, rollouts: 10, reward_sum: 4, reward_sum_without_errors: 4, errors: { rate_limited: 2 } };
    const text = await page(doorWith({ totals }));
    expect(text).toContain("<th>Reward</th><td>0.400 to 0.600, as 20.0 % of the rollouts have no score (0.500 over the others)</td>");
    expect(text).not.toContain("<th>Between</th>");
  });

  it("asks for itself again while the run goes on, and links no results that are not complete", async () => {
    const text = await page(doorWith());
    expect(text).toContain('<meta http-equiv="refresh" content="5">');
    expect(text).not.toContain("files/results.jsonl");
    expect(await page(doorWith({ suspended: true }))).toContain("waiting to be resumed");
    expect(await page(doorWith({ suspended: true }))).not.toContain("http-equiv");
  });

  it("says how far the push to the Hub is, and what to type where it failed", async () => {
    const rests = { status: "COMPLETED", phase: "settled" } as const;
    const waits = await page(doorWith({ ...rests, hub_push: { status: "pushing", dataset: "me/rows", retry_at: 1_790_000_000_000 } }));
    expect(waits).toContain("waiting to be pushed to me/rows");
    expect(waits).toContain("http-equiv");
    const failure = { code: "hub_refused", message: "The token may not write.", hint: "Make another." } as const;
    const again = await page(doorWith({ ...rests, hub_push: { status: "pushing", dataset: "me/rows", failure, retry_at: 1_790_000_000_000 } }));
    expect(again).toMatch(/the last attempt failed: The token may not write\.; tried again at 2026-09-21.+ at the latest/);
    const url = "https://hub.example/datasets/me/rows";
    expect(await page(doorWith({ ...rests, hub_push: { status: "pushed", dataset: "me/rows", url, commit: "c".repeat(40) } }))).toContain(
      `${url}, commit ${"c".repeat(12)}<`,
    );
    expect(await page(doorWith({ ...rests, hub_push: { status: "pushed", dataset: "me/rows", url, commit: null } }))).toContain("all of it was there already");
    const failed = await page(doorWith({ ...rests, hub_push: { status: "failed", dataset: "me/rows", public: true, failure } }));
    expect(failed).toContain(`failed: The token may not write. Make another. Then type: npx edgewise push ${ID} --to hf:me/rows --public<`);
    expect(failed).not.toContain("http-equiv");
  });

  it("allows a browser nothing but its own style", async () => {
    const response = await doorWith().call("GET", PAGE);
    const text = await response.text();
    const style = /<style>([\s\S]*?)<\/style>/.exec(text)?.[1] ?? "";
    const policy = `default-src 'none'; style-src 'sha256-${createHash("sha256").update(style).digest("base64")}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`;
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "content-type": "text/html; charset=UTF-8",
      "content-security-policy": policy,
      "x-content-type-options": "nosniff",
      "referrer-policy": "same-origin",
      "cache-control": "no-store",
    });
    expect(text).not.toMatch(/<script|style=|\son\w+=/i);
  });

  const ATTACK = `"><script>alert(1)</script><img src=x onerror=alert(1)>'&amp; </title></style></pre>`;
  it("escapes what models, providers and users write, wherever it stands", async () => {
    const failure = { code: "auth_failed", message: `failed ${ATTACK}`, hint: ATTACK } as const;
    const totals = { ...viewFor(CONFIG).totals, rollouts: 1, metrics: { [ATTACK]: { sum: 1, count: 1 } } };
    const door = doorWith({ failure, totals }, { name: ATTACK, model: `m${ATTACK}`, env_id: `e${ATTACK}`, base_url: `http://x/${ATTACK}` });
    door.run(ID).stored = [log(1, ATTACK)];
    const text = await page(door);
    expect(text).not.toMatch(/<script|<img/i);
    expect(text.split("&lt;script&gt;alert(1)&lt;/script&gt;").length - 1).toBe(9);
    expect(text.match(/<\/(title|style|pre|html)>/g)).toEqual(["</title>", "</style>", "</pre>", "</html>"]);
  });

  it("shows no control characters, and stays small whatever the texts are", async () => {
    const failure = { code: "internal", message: "m".repeat(10_000_000) } as const;
    const door = doorWith({ failure });
    door.run(ID).stored = [
      ...Array.from({ length: 1_000 }, (_, index) => log(index + 1, `\u001b[2J\u0000\u202e${"x".repeat(10_000)}`)),
      log(2_000, "the last"),
    ];
    const text = await page(door);
    expect(text.length).toBeLessThan(500_000);
    expect(text).toContain("the last");
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this looks for
    expect(text).not.toMatch(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]/);
  });

  it("of a run that is not there is not found", async () => {
    expect((await openDoor().call("GET", PAGE)).status).toBe(404);
    expect((await openDoor().call("GET", "//dashboard/evaluations/..%2f..%2fx")).status).toBe(404);
  });
});

describe("who may see the page", () => {
  const deployed = { local: false, token: "s3cret:ü" };

  it("is on this machine, or has the token; a browser is signed in with it, and is asked for no password", async () => {
    expect((await doorWith().call("GET", PAGE)).status).toBe(200);
    const door = doorWith({}, {}, deployed);
    const bearer = { authorization: "Bearer s3cret:ü" };
    for (const path of [PAGE, `${PAGE}/files/eval.log`]) {
      expect((await door.call("GET", path, undefined, bearer)).status).toBe(200);
      for (const headers of [{}, basic("s3cret:ü"), basic(""), { authorization: "Basic !" }, { authorization: "Bearer s3cret" }]) {
        const refused = await door.call("GET", path, undefined, headers);
        expect([refused.status, refused.headers.get("www-authenticate")], JSON.stringify(headers)).toEqual([401, null]);
      }
    }
  });

  it("is nobody while a deployed service has no token", async () => {
    const response = await doorWith({}, {}, { local: false, token: null }).call("GET", PAGE, undefined, { accept: "text/html" });
    expect([response.status, await response.json()]).toMatchObject([401, { hint: expect.stringContaining("EDGEWISE_TOKEN") }]);
  });
});

describe("the files beside the page", () => {
  it("are the same as those of the API, and nothing a browser would run", async () => {
    const door = doorWith({ status: "COMPLETED", phase: "settled" });
    door.run(ID).stored = [log(1, "<script>alert(1)</script>")];
    for (const file of ["results.jsonl", "metadata.json", "eval.log"]) {
      const [page, api] = [await door.call("GET", `${PAGE}/files/${file}`), await door.call("GET", `/evaluations/${ID}/files/${file}`)];
      expect(await page.text()).toBe(await api.text());
      expect(page.headers.get("x-content-type-options")).toBe("nosniff");
      expect(page.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
      expect(page.headers.get("content-type")).toBe(
        { "results.jsonl": "application/x-ndjson", "metadata.json": "application/json", "eval.log": "text/plain; charset=utf-8" }[file],
      );
      expect(page.headers.get("content-disposition")).toBe(file === "eval.log" ? null : `attachment; filename="${file}"`);
    }
  });
});
