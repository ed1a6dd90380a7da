import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { writeScoredFolder } from "../../../support/results/scored-folder.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-gate-"));
  writeScoredFolder(cwd, "base", 400, (i) => i % 10 < 7);
  writeScoredFolder(cwd, "same", 400, (i) => i % 10 < 7);
  writeScoredFolder(cwd, "worse", 400, (i) => i % 10 < 6);
  writeScoredFolder(cwd, "few", 50, (i) => i % 10 < 7);
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

const gate = (args: readonly string[], env: Record<string, string> = {}) => runInProcess(["gate", ...args], { cwd, columns: 200, env });
const DROP = ["--baseline", "base", "--max-drop", "0.02"];

describe("gate", () => {
  it("answers pass, fail or undecided by its exit code, and undecided with what deciding would cost", async () => {
    const pass = await gate(["same", ...DROP]);
    expect([pass.code, pass.out[0]]).toEqual([0, "Gate: pass"]);
    expect(pass.out).toContain("Baseline:  base (model-base): 400 examples, 400 rollouts");
    const fail = await gate(["worse", ...DROP]);
    expect([fail.code, fail.out[0]]).toEqual([4, "Gate: fail"]);
    expect(fail.out.find((line) => line.startsWith("reward"))).toMatch(
      /^reward: difference to the baseline not below -0\.020 +400 +-0\.100 +-0\.133 to -0\.074 +fail$/,
    );
    const undecided = await gate(["few", ...DROP]);
    expect([undecided.code, undecided.out[0]]).toEqual([3, "Gate: undecided"]);
    expect(undecided.out).toContain("to pass, if the run is as good as the baseline: 189 examples, 139 more than there are");
  });

  it("holds a mean, and any metric, against a number", async () => {
    expect((await gate(["same", "--min", "0.6"])).code).toBe(0);
    expect((await gate(["same", "--min", "0.8"])).code).toBe(4);
    expect((await gate(["same", "--min", "0.8", "--metric", "length"])).out.join("\n")).toMatch(/length: mean not below 0\.800 +400 +203\.500 .*pass/);
    expect((await gate(["same", "--min", "0.8", "--metric", "lenght"])).err).toContain("same has no lenght");
  });

  it("decides by the interval at 1 - alpha", async () => {
    writeScoredFolder(cwd, "lower", 400, (i) => i % 10 < 7 && i % 25 !== 1);
    expect((await gate(["lower", "--baseline", "base", "--max-drop", "0.027"])).code).toBe(3);
    const wider = await gate(["lower", "--baseline", "base", "--max-drop", "0.027", "--alpha", "0.2"]);
    expect([wider.code, wider.out.join("\n")]).toEqual([4, expect.stringContaining("80% interval")]);
  });

  it("counts examples that share something as one observation, and refuses a key that no row has with those that there are", async () => {
    const grouped = await gate(["same", ...DROP, "-g", "passage"]);
    expect(grouped.out).toContain("over 5 values of passage, whose examples count as one observation each");
    expect([grouped.code, grouped.out[0]]).toEqual([3, "Gate: undecided"]);
    const wrong = await gate(["same", ...DROP, "-g", "pasage"]);
    expect([wrong.code, wrong.out]).toEqual([2, []]);
    expect(wrong.err).toMatch(
      /same: -g\/--cluster-by pasage: no row has it, in itself or in its info\n +Rows have example_id, answer, reward, rollout_index, level, passage;/,
    );
  });

  it.each(["parquet", "csv", "jsonl"])("takes exports in %s, and the groups that their info has", async (format) => {
    for (const name of ["base", "worse"]) await runInProcess(["export", name, "-f", format, "-o", `${name}-out`], { cwd });
    const { code, out } = await gate(["worse-out", "--baseline", "base-out", "--max-drop", "0.02"]);
    expect([code, out[0]]).toEqual([4, "Gate: fail"]);
    const grouped = await gate(["worse-out", "--baseline", "base-out", "--max-drop", "0.02", "-g", "passage"]);
    expect(grouped.out.join("\n")).toContain("over 5 values of passage");
    const report = await runInProcess(["eval", "report", "base-out", "--by", "level", "-g", "passage"], { cwd });
    expect([report.code, report.out.join("\n")]).toEqual([
      0,
      expect.stringMatching(/Examples: 400[\s\S]*over 5 values of passage[\s\S]*reward by level:[\s\S]*even +200/),
    ]);
  });

  it("leaves its result for programs, in a file, and behind what stands on the page of a job", async () => {
    writeFileSync(join(cwd, "page.md"), "before\n");
    const { code, out } = await gate(["worse", ...DROP, "-o", "json", "--summary", "summary.md"], { GITHUB_STEP_SUMMARY: join(cwd, "page.md") });
    expect(code).toBe(4);
    expect(JSON.parse(out.join("\n"))).toMatchObject({ verdict: "fail", alpha: 0.05, checks: [{ kind: "max_drop", bound: -0.02, n: 400 }] });
    const summary = readFileSync(join(cwd, "summary.md"), "utf8");
    expect(summary).toMatch(/^### Gate: fail \(worse against base\)\n[\s\S]*\| reward: difference to the baseline not below -0\.020 \| 400 \|/);
    expect(readFileSync(join(cwd, "page.md"), "utf8")).toBe(`before\n${summary}`);
    const unwritable = await gate(["same", ...DROP, "--summary", "no/such/folder.md"]);
    expect([unwritable.code, unwritable.err]).toEqual([1, expect.stringContaining("--summary: no/such/folder.md cannot be written")]);
  });

  it("refuses what is no gate, and runs that are not comparable", async () => {
    for (const [args, reason] of [
      [["same"], "a gate needs a bound"],
      [["same", "--max-drop", "0.02"], "--max-drop needs --baseline"],
      [["same", "--baseline", "base"], "--baseline needs --max-drop"],
      [["same", "--baseline", "base", "--max-drop", "-1"], "must be a number from 0 on"],
      [["same", "--min", "0.5", "--alpha", "0.6"], "above 0 and at most 0.5"],
      [[".", "--min", "0.5"], "a gate is for one run"],
    ] as const) {
      const { code, err } = await gate(args);
      expect([code, err]).toEqual([2, expect.stringContaining(reason)]);
    }
    writeScoredFolder(cwd, "other", 400, () => true, { edgewise: { env_digest: `v2:${"c".repeat(64)}` } });
    expect(await gate(["other", ...DROP])).toMatchObject({ code: 2, err: expect.stringContaining("not comparable") as string });
    expect((await gate(["other", ...DROP, "--accept-code-change"])).code).toBe(0);
    writeScoredFolder(cwd, "elsewhere", 3000, (i) => i % 10 < 7);
    expect((await gate(["few", "--baseline", "elsewhere", "--max-drop", "0.5", "--unpaired"])).code).toBe(0);
  });
});

describe("a named baseline", () => {
  let service: FakeService;
  const MAIN = { name: "main", run_id: "0000abcd", updated_at: "2026-01-01T00:00:00.000Z", updated_by: "ada" };
  beforeEach(async () => {
    service = await startFakeService((request, response) => {
      const path = request.path.replace("/api/v1", "");
      if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
      if (path === "/baselines") return sendJson(response, 200, { data: [MAIN] });
      if (path === "/baselines/main") return sendJson(response, 200, request.method === "DELETE" ? { message: "Baseline deleted." } : { data: MAIN });
      return sendJson(response, 404, { detail: "Not found.", code: "not_found" });
    });
  });
  afterEach(() => service.close());
  const run = (...args: readonly string[]) => runInProcess(args, { cwd, columns: 200, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "owner" } });
  const asked = () =>
    service.asked
      .filter(({ path }) => path !== "/health")
      .map(({ method, path, query, body }) => [`${method} ${path}${query.size > 0 ? `?${query}` : ""}`, body]);

  it("is set, listed and deleted", async () => {
    expect((await run("baseline", "set", "main", "0000abcd", "--team", "acme")).out).toEqual([expect.stringContaining("main is run 0000abcd")]);
    expect((await run("baseline", "list")).out.map((line) => line.split(/ +/))).toEqual([
      ["BASELINE", "RUN", "SINCE", "BY"],
      ["main", "0000abcd", "2026-01-01T00:00:00.000Z", "ada"],
    ]);
    expect((await run("baseline", "delete", "main")).code).toBe(0);
    expect(asked()).toEqual([
      ["PUT /api/v1/baselines/main?team_id=acme", '{"run_id":"0000abcd"}'],
      ["GET /api/v1/baselines", ""],
      ["DELETE /api/v1/baselines/main", ""],
    ]);
    expect((await run("baseline", "set", "a b", "0000abcd")).code).toBe(2);
    expect((await run("baseline", "set", "main", "here")).err).toContain("is not a run id");
  });

  it("takes a baseline by its name", async () => {
    expect((await run("gate", "same", "--baseline", "main", "--max-drop", "0.1")).code).toBe(1);
    expect(asked().slice(0, 2)).toEqual([
      ["GET /api/v1/baselines/main", ""],
      ["GET /api/v1/evaluations/0000abcd", ""],
    ]);
    const unknown = await run("gate", "same", "--baseline", "other", "--max-drop", "0.1");
    expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining("nor a baseline of the service")]);
    // Nothing was ever run here: no service is started to ask for a name.
    expect((await gate(["same", "--baseline", "main", "--max-drop", "0.1"])).err).toContain("is neither a run id nor a folder that is there");
  });
});

describe("a gate that a run of the service does not pass", () => {
  let service: FakeService;
  let refuses = false;
  beforeEach(async () => {
    refuses = false;
    service = await startFakeService((request, response) => {
      const path = request.path.replace("/api/v1", "");
      const file = /^\/evaluations\/0000abcd\/files\/(metadata\.json|results\.jsonl)$/.exec(path)?.[1];
      if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
      if (path === "/evaluations/0000abcd") return sendJson(response, 200, { status: "COMPLETED", edgewise: { settled: true } });
      if (file !== undefined) return void response.writeHead(200).end(readFileSync(join(cwd, "worse", file)));
      if (path === "/evaluations/0000abcd/gate-failed" && !refuses) return sendJson(response, 200, { message: "Alerts are told of it." });
      return sendJson(response, 403, { detail: "This token may not do that.", code: "forbidden" });
    });
  });
  afterEach(() => service.close());
  const run = (...args: readonly string[]) =>
    runInProcess(["gate", ...args], { cwd, columns: 200, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "owner" } });
  const told = () => service.asked.filter(({ path }) => path.endsWith("/gate-failed")).map(({ method, body }) => ({ method, ...(JSON.parse(body) as object) }));

  it("is told to its alerts, with the bounds and what was measured", async () => {
    expect((await run("0000abcd", ...DROP, "--min", "0.1")).code).toBe(4);
    expect(told()).toEqual([
      {
        method: "POST",
        text: "Run 0000abcd does not pass its gate: reward: difference to the baseline not below -0.020, is -0.100 (-0.133 to -0.074).",
        facts: {
          ...{ metric: "reward", alpha: 0.05, baseline: "base", max_drop: -0.02, max_drop_verdict: "fail", min: 0.1, min_verdict: "pass" },
          ...{ max_drop_low: expect.closeTo(-0.133, 3), max_drop_high: expect.closeTo(-0.074, 3), max_drop_value: expect.closeTo(-0.1, 3) },
          ...{ min_value: expect.closeTo(0.6, 3), min_low: expect.any(Number), min_high: expect.any(Number) },
        },
      },
    ]);
  });

  it("keeps its exit code where nobody can be told, and says so", async () => {
    refuses = true;
    const { code, err } = await run("0000abcd", ...DROP);
    expect([code, err]).toEqual([4, expect.stringMatching(/alerts were not told that run 0000abcd does not pass its gate: .*may not/)]);
  });

  it("is nobody's business where it passes, is undecided, is a folder's, or is held against itself", async () => {
    expect((await run("0000abcd", "--min", "0.1")).code).toBe(0);
    expect((await run("0000abcd", "--min", "0.6")).code).toBe(3);
    expect((await run("worse", ...DROP)).code).toBe(4);
    expect((await run("0000abcd", "--baseline", "0000abcd", "--max-drop", "0.02", "--min", "0.9")).code).toBe(4);
    expect(told()).toEqual([]);
  });
});
