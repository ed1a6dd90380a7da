import { execFile } from "node:child_process";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { idealMs, patienceOf, readPlan, scaleOf, wallMs } from "../../../tools/smoke/plan.ts";
import { type ProbeCall, statsOf } from "../../../tools/smoke/probe-stats.ts";
import { type Shown, smoke } from "../../../tools/smoke/smoke.ts";
import { countRows } from "../../../tools/smoke/watched-run.ts";
import { CONSUMER_WALL_MS } from "../../../src/limits.ts";
import { type FakeService, type Handler, sendJson, startFakeService } from "../../support/cli/cli-fake-service.ts";

interface Said {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function command(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Said> {
  const { EDGEWISE_URL: _url, EDGEWISE_TOKEN: _token, ...rest } = process.env;
  return new Promise((resolve) =>
    execFile(process.execPath, ["tools/smoke-deployed.ts", ...args], { env: { ...rest, ...env }, timeout: 20_000 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : typeof error.code === "number" ? error.code : -1, stdout, stderr }),
    ),
  );
}

describe("npm run smoke:deployed", () => {
  it("names everything that is missing, at once", async () => {
    const { code, stderr } = await command(["-m", "m"]);
    expect(code).toBe(2);
    for (const name of ["EDGEWISE_URL", "EDGEWISE_TOKEN", "-b is missing", "usage:"]) expect(stderr).toContain(name);
  });

  it("says when nobody answers at the address", async () => {
    const { code, stderr } = await command(["-m", "m", "-b", "http://127.0.0.1:9/v1"], { EDGEWISE_URL: "http://127.0.0.1:9", EDGEWISE_TOKEN: "t" });
    expect(code).toBe(1);
    expect(stderr).toContain("EDGEWISE_URL");
  });
});

const [EXAMPLES, ROLLOUTS, REQUESTS] = [5, 2, 4];

/** What a service and its probe may do that breaks a rule. */
interface Wrong {
  readonly rows?: (rows: readonly string[]) => readonly string[];
  readonly status?: string;
  readonly endless?: boolean;
  readonly atOnce?: number;
  readonly requests?: number;
}

let fake: FakeService | null = null;
// Where it is, is for a person.
beforeEach(() => vi.spyOn(console, "error").mockImplementation(() => undefined));
afterEach(async () => {
  vi.restoreAllMocks();
  await fake?.close();
  fake = null;
});

/** Of a service that runs nothing, and says that all is done: arguments and environment. */
async function asked(wrong: Wrong): Promise<[readonly string[], Readonly<Record<string, string>>]> {
  const runs = new Map<string, number>();
  const state = (examples: number) => {
    const counts = { done_rollouts: examples * ROLLOUTS, total_rollouts: examples * ROLLOUTS, errors: {}, executors: 1, grants: 1, lapses: 0, seq: 0 };
    return { phase: "settled", settled: wrong.endless !== true, suspended: false, vitals: { in_flight: 1, retries: 0 }, ...counts };
  };
  const answer: Handler = ({ method, path, query, body }, response) => {
    const [, id = "", part = ""] = /^\/api\/v1\/(?:hosted-)?evaluations\/(\w+)\/?(.*)$/.exec(path) ?? [];
    const examples = runs.get(id) ?? 0;
    if (path === "/api/v1/hosted-evaluations") {
      runs.set(`r${runs.size}`, (JSON.parse(body) as { eval_config: { num_examples: number } }).eval_config.num_examples);
      return sendJson(response, 200, { evaluation_id: `r${runs.size - 1}` });
    }
    if (path === "/stats") {
      const asked = query.get("model")?.startsWith("smoke-first") ? EXAMPLES * ROLLOUTS : ROLLOUTS;
      return sendJson(response, 200, {
        ...{ requests: wrong.requests ?? asked, most_at_once: wrong.atOnce ?? REQUESTS, given_up: 0 },
        ...{ first_ms: 1_000, most_ms: 1_001, last_ms: 1_100, busy_ms: 100 },
      });
    }
    if (part === "events") {
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.write(`event: progress\ndata: ${JSON.stringify(state(examples))}\n\n`);
      if (wrong.endless !== true) response.end(`event: end\ndata: ${JSON.stringify(state(examples))}\n\n`);
      return;
    }
    if (part === "files/results.jsonl") {
      const rows = Array.from({ length: examples * ROLLOUTS }, (_, i) =>
        JSON.stringify({ example_id: Math.floor(i / ROLLOUTS), rollout_index: i % ROLLOUTS, reward: 1 }),
      );
      response.writeHead(200).end(`${(wrong.rows?.(rows) ?? rows).join("\n")}\n`);
      return;
    }
    sendJson(response, 200, method === "GET" ? { status: wrong.status ?? "COMPLETED", error_message: null } : {});
  };
  fake = await startFakeService(answer);
  const sizes = ["--delay", "0.03", "-n", EXAMPLES, "-r", ROLLOUTS, "-c", REQUESTS, "--within", wrong.endless === true ? "0.5" : "15"].map(String);
  return [["--probe", fake.url, ...sizes], { EDGEWISE_URL: fake.url, EDGEWISE_TOKEN: "t" }];
}

const shown = async (wrong: Wrong): Promise<Shown> => smoke(readPlan(...(await asked(wrong))));

describe("the smoke test of a deployment", () => {
  it("ends with 0 where no rule is broken, with numbers beside what to compare them with, and deletes its runs", async () => {
    const { code, stdout } = await command(...(await asked({})));
    expect([code, stdout]).toEqual([0, expect.stringContaining("no hard rule is broken")]);
    expect(stdout).toMatch(/first +most requests at once, at the endpoint +4 +requests +<= 4 +met +max_concurrent/);
    expect(stdout).toMatch(/second +most executors at once +1 +executors +~ 1 +docs\/architecture\.md/);
    expect(fake?.asked.filter(({ method, path }) => method === "DELETE" && path.startsWith("/api/")).length).toBe(2);
  });

  it.each<readonly [string, Wrong, RegExp]>([
    ["lacks a row", { rows: (rows) => rows.slice(1) }, /^first: results\.jsonl lacks 1 of 10 rows: 0\/0/],
    ["has a row twice", { rows: (rows) => [...rows, ...rows.slice(1)] }, /^first: results\.jsonl has 9 rows twice/],
    ["has failed", { status: "FAILED" }, /^first: the run ended FAILED/],
    ["does not end", { endless: true }, /^first: the run has not ended after 0\.5 s: 10 of 10 rollouts are done/],
    ["had more requests at once than it may", { atOnce: 5 }, /^second: the endpoint had 5 requests at once, max_concurrent is 4/],
    ["called another endpoint", { requests: 0 }, /^first: the endpoint was asked 0 times for 10 rollouts/],
  ])("names the rule where a run %s, and keeps what broke it", async (_, wrong, said) => {
    const { broken } = await shown(wrong);
    expect(broken).toContainEqual(expect.stringMatching(said));
    expect(fake?.asked.filter(({ method, path }) => method === "DELETE" && path.startsWith("/api/"))).toEqual([]);
  });

  it("ends with 1 and says which rule was broken, below its numbers", async () => {
    const { code, stdout } = await command(...(await asked({ rows: (rows) => rows.slice(1) })));
    expect([code, stdout]).toEqual([1, expect.stringMatching(/measure[\s\S]*BROKEN first: results\.jsonl lacks 1 of 10 rows: 0\/0/)]);
    expect(stdout).not.toContain("no hard rule is broken");
  });

  it("is large enough that its first run lasts longer than an invocation may", () => {
    const plan = readPlan([], { EDGEWISE_URL: "https://x.example", EDGEWISE_TOKEN: "t" });
    expect([plan.delayMs, plan.concurrency, plan.rollouts, scaleOf(plan)]).toEqual([30_000, 500, 16, 1]);
    expect(idealMs(plan, plan.examples)).toBeGreaterThan(CONSUMER_WALL_MS);
    expect(wallMs(plan)).toBe(CONSUMER_WALL_MS);
    expect(patienceOf(plan, plan.examples)).toBeGreaterThan(2 * idealMs(plan, plan.examples));
  });
});

describe("rows that are counted", () => {
  it("are one of each rollout of each example, and no others", () => {
    const row = (example_id: number, rollout_index: number): string => JSON.stringify({ example_id, rollout_index, reward: 0.5 });
    expect(countRows(`${row(0, 0)}\n${row(0, 1)}\n`, 1, 2)).toEqual({ problems: [], meanReward: 0.5 });
    expect(countRows(`${row(0, 0)}\n${row(7, 0)}\n`, 1, 2).problems).toEqual([
      "results.jsonl lacks 1 of 2 rows: 0/1",
      "results.jsonl has 1 rows that nobody asked for",
    ]);
    expect(countRows("", 1, 1).problems).toEqual(["results.jsonl lacks 1 of 1 rows: 0/0"]);
  });
});

describe("requests that the probe counts", () => {
  const call = (opened: number, at: number, closed: number | null, end: number | null, due = 1_000): ProbeCall => ({
    ...{ opened, opened_ms: at, due_ms: due, closed, closed_ms: end, given_up: false },
  });

  it("are at once while both are under way: of equal times the order decides", () => {
    expect(statsOf([call(1, 0, 2, 10), call(3, 10, 4, 20)])).toMatchObject({ requests: 2, most_at_once: 1, busy_ms: 20, first_ms: 0, last_ms: 20 });
    expect(statsOf([call(1, 0, 3, 10), call(2, 10, 4, 20)])).toMatchObject({ most_at_once: 2, most_ms: 10 });
  });

  it("end when they are due where nothing was heard of their end", () => {
    expect(statsOf([call(1, 0, null, null, 30), call(2, 40, 3, 50)])).toMatchObject({ most_at_once: 1, last_ms: 50, busy_ms: 40 });
    expect(statsOf([])).toEqual({ requests: 0, most_at_once: 0, given_up: 0, first_ms: null, most_ms: null, last_ms: null, busy_ms: 0 });
  });
});
