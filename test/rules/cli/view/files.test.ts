import { appendFileSync, closeSync, ftruncateSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findRuns, loadInfo, readInfo } from "../../../../src/cli/view/find-runs.ts";
import { mergedLogs, readLogs } from "../../../../src/cli/view/log-files.ts";
import { type ReadRow, ResultsFile } from "../../../../src/cli/view/results-file.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

let place = "";
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "edgewise-view-"));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

const metadata = (more: object = {}): object => ({
  env_id: "my-env",
  env_args: {},
  model: "openai/small",
  base_url: "https://api.example.com/v1",
  num_examples: 2,
  rollouts_per_example: 1,
  sampling_args: { temperature: 0.5, max_tokens: null },
  avg_reward: 0.5,
  avg_error: 0.25,
  ...more,
});

function folder(path: string, files: Readonly<Record<string, string | object>>): string {
  const whole = join(place, path);
  mkdirSync(whole, { recursive: true });
  for (const [name, content] of Object.entries(files)) writeFileSync(join(whole, name), typeof content === "string" ? content : JSON.stringify(content));
  return whole;
}

const USUAL = { path: null, envDir: "./environments", outputsDir: "./outputs" };
const row = (id: number, more: object = {}): string => JSON.stringify({ example_id: id, prompt: [], completion: [], reward: id, error: null, ...more });

async function opened(path: string): Promise<ResultsFile> {
  const file = await ResultsFile.open(path);
  if (typeof file === "string") throw new Error(file);
  return file;
}
async function readAll(file: ResultsFile): Promise<readonly ReadRow[]> {
  const rows: ReadRow[] = [];
  for await (const read of file.rows()) rows.push(read);
  return rows;
}

describe("results folders are found", () => {
  it("in the outputs here and of each environment, by their metadata.json or what a run of ours leaves before it, and nothing else is one", () => {
    folder("outputs/evals/my-env--openai--small/aaaaaaaa", { "metadata.json": metadata() });
    folder("outputs/evals/my-env--openai--small/bbbbbbbb", { ".edgewise.json": { version: 1 } });
    folder("outputs/evals/my-env--openai--small/cccccccc", { "results.jsonl": row(0) });
    folder("outputs/evals/my-env--openai--small/dddddddd", { "env_server.log": "text" });
    folder("outputs/evals/owner/sub--m/eeeeeeee", { "metadata.json": metadata({ env_id: "owner/sub", model: "m" }) });
    folder("environments/other/outputs/evals/other--m/ffffffff", { "metadata.json": metadata({ env_id: "other", model: "m" }) });
    const found = findRuns(place, USUAL).map(({ id, envId, model }) => [id, envId, model]);
    expect(found.filter(([, env]) => env !== "my-env")).toEqual([
      ["ffffffff", "other", "m"],
      ["eeeeeeee", "owner/sub", "m"],
    ]);
    expect(
      found
        .filter(([, env]) => env === "my-env")
        .map(([id, , model]) => `${id} ${model}`)
        .sort(),
    ).toEqual(["aaaaaaaa openai/small", "bbbbbbbb openai/small"]);
  });

  it("however deep they lie", () => {
    const path = `outputs/evals/${"deep/".repeat(30)}a--b/aaaaaaaa`;
    folder(path, { "metadata.json": metadata() });
    expect(findRuns(place, USUAL).map(({ shownPath }) => shownPath)).toEqual([path]);
    expect(findRuns(place, { ...USUAL, path: "." })).toHaveLength(1);
  });

  it("under a path: one run, a folder above, or a file of a run", () => {
    const run = folder("far/a--b/aaaaaaaa", { "metadata.json": metadata(), "results.jsonl": row(0) });
    folder("far/a--b/bbbbbbbb", { "metadata.json": metadata() });
    const under = (path: string): readonly string[] =>
      findRuns(place, { ...USUAL, path })
        .map(({ id }) => id)
        .sort();
    expect(under("far")).toEqual(["aaaaaaaa", "bbbbbbbb"]);
    expect(under(run)).toEqual(["aaaaaaaa"]);
    expect(under(join(run, "results.jsonl"))).toEqual(["aaaaaaaa"]);
    expect(() => under("nowhere")).toThrow("nowhere is not there");
  });

  it("a thousand at once, of which one per model is opened", () => {
    for (let i = 0; i < 1000; i += 1) {
      const id = i.toString(16).padStart(8, "0");
      // All but the first of a model cannot be read: whoever tried would say so.
      folder(`outputs/evals/my-env--m${i % 4}/${id}`, { "metadata.json": i < 4 ? metadata({ model: `m${i}` }) : "{" });
    }
    const found = findRuns(place, USUAL);
    expect(found).toHaveLength(1000);
    expect(new Set(found.map(({ envId, model }) => `${envId} ${model}`))).toEqual(new Set([0, 1, 2, 3].map((i) => `my-env m${i}`)));
  });

  it("with environment and model from the name of their folder where the metadata cannot be read", () => {
    folder("outputs/evals/gsm8k--openai--gpt-4.1/aaaaaaaa", { "metadata.json": '{"env_id": "gs' });
    expect(findRuns(place, USUAL)).toMatchObject([{ envId: "gsm8k", model: "openai/gpt-4.1" }]);
  });
});

describe("the metadata of a run", () => {
  it("is read in the shapes of 2025, of 0.1.13, of 0.1.14 and ours", () => {
    const old = folder("a", {
      "metadata.json": { env: "math", model: "m", num_examples: 5, rollouts_per_example: 3, date: "2025-09-30", avg_reward: 0.9, avg_calls: 2 },
    });
    expect(readInfo(old)).toMatchObject({ envId: "math", averageReward: 0.9, errorShare: null, metrics: [["calls", 2]], numbers: [["date", "2025-09-30"]] });
    const flat = folder("b", { "metadata.json": metadata({ time_ms: 61_000, avg_metrics: { ok: 1 }, pass_at_k: { 1: 0.5, 2: 1 } }) });
    expect(readInfo(flat)).toMatchObject({
      envId: "my-env",
      errorShare: 0.25,
      numbers: [
        ["pass@k", "1: 0.500, 2: 1.000"],
        ["time", "1m 1s"],
      ],
      metrics: [["ok", 1]],
    });
    const nested = folder("c", { "metadata.json": metadata({ time: 61, shuffle_seed: 7 }) });
    expect(readInfo(nested)).toMatchObject({ numbers: [["time", "1m 1s"]], settings: expect.arrayContaining([["shuffle seed", "7"]]) });
    const own = folder("d", { "metadata.json": metadata({ edgewise: { status: "RUNNING", reward_ci95: [0.1, 0.9] } }) });
    expect(readInfo(own)).toMatchObject({ status: "RUNNING", numbers: [["95% interval", "0.100 to 0.900"]] });
    const interval = (name: string, avg_reward: number, edgewise: object): unknown =>
      readInfo(folder(name, { "metadata.json": metadata({ avg_reward, edgewise }) }));
    expect(interval("e", 0.95, { reward_ci95: [0.837, 1.063] })).toMatchObject({ numbers: [["95% interval", "0.837 to 1.000"]] });
    expect(interval("f", 0.95, { reward_ci95: [0.837, 1.063], reward_range: [0, 1.2] })).toMatchObject({ numbers: [["95% interval", "0.837 to 1.063"]] });
    expect(interval("g", 1.2, { reward_ci95: [0.9, 1.5] })).toMatchObject({ numbers: [["95% interval", "0.900 to 1.500"]] });
  });

  it.each([
    ["missing", null, "there is no metadata.json"],
    ["empty", "", "metadata.json is empty"],
    ["torn", '{"env_id": "my', "may have been killed"],
    ["something else", '{"tests": []}', "it is not the metadata of a run"],
    ["a list", "[1]", "it is not the metadata of a run"],
  ])("that is %s is called what it is", async (_, content, problem) => {
    const path = folder("run", content === null ? {} : { "metadata.json": content });
    expect(readInfo(path)).toEqual({ problem: expect.stringContaining(problem) as unknown });
    expect(await loadInfo(path)).toEqual(readInfo(path));
  });

  it("with bare NaN and Infinity, as Python writes them, is read", () => {
    const path = folder("run", { "metadata.json": '{"env_id": "NaN", "model": "Infinity", "avg_reward": NaN, "avg_metrics": {"a": -Infinity, "b": 1.0}}' });
    expect(readInfo(path)).toMatchObject({ envId: "NaN", model: "Infinity", averageReward: null, metrics: [["b", 1]] });
  });
});

describe("a results file", () => {
  it("gives any row, in any order, and all of them one after the other", async () => {
    const rows = Array.from({ length: 3000 }, (_, i) => row(i, { filling: "x".repeat(i % 700) }));
    const file = await opened(folder("run", { "results.jsonl": `${rows.join("\n")}\n` }));
    expect(await file.row(2999)).toMatchObject({ row: { example_id: 2999 } });
    expect(await file.row(0)).toMatchObject({ row: { example_id: 0 } });
    expect(await file.row(3000)).toBeNull();
    expect([file.count, file.known]).toEqual([3000, true]);
    expect((await readAll(file)).map((read) => ("row" in read ? read.row.example_id : null))).toEqual(rows.map((_, i) => i));
    await file.close();
  });

  it("of 300 MB gives its first row after a look at its first part only, and its rows through a search in pieces", async () => {
    const path = folder("run", {});
    const name = join(path, "results.jsonl");
    const handle = openSync(name, "w");
    writeSync(handle, `${row(0)}\n${row(1)}\n`);
    // A hole of zeros, which takes no space on the disk: one row that is not JSON.
    ftruncateSync(handle, 300 * 1024 * 1024);
    closeSync(handle);
    appendFileSync(name, `\n${row(2)}\n`);
    const file = await opened(path);
    expect(await file.row(0)).toMatchObject({ row: { example_id: 0 } });
    expect(file.seen).toBeLessThan(1024 * 1024);
    expect(file.known).toBe(false);
    const rows = await readAll(file);
    expect(rows).toMatchObject([
      { row: { example_id: 0 } },
      { row: { example_id: 1 } },
      { problem: expect.stringMatching(/^row 3 has \d+ bytes, more than is shown$/) },
      { row: { example_id: 2 } },
    ]);
    await file.close();
  });

  it("with broken rows says so in their place, and calls a cut last row cut", async () => {
    const file = await opened(
      folder("run", { "results.jsonl": `${row(0)}\n\n{"a": \n[1]\n${row(1, { reward: 1 }).replace('"reward":1', '"reward":NaN')}\n{"example_id": 2, "pro` }),
    );
    expect(await readAll(file)).toEqual([
      { row: expect.objectContaining({ example_id: 0 }) as unknown },
      { problem: expect.stringMatching(/^row 2 is no JSON/) as unknown, text: '{"a": ' },
      { problem: "row 3 is JSON, but no object", text: "[1]" },
      { row: expect.objectContaining({ example_id: 1, reward: "NaN" }) as unknown },
      { problem: expect.stringMatching(/^row 5 is cut/) as unknown, text: '{"example_id": 2, "pro' },
    ]);
    await file.close();
  });

  it("that is empty, missing or a folder is called that", async () => {
    const empty = await opened(folder("a", { "results.jsonl": "" }));
    expect(await readAll(empty)).toEqual([]);
    await empty.close();
    expect(await ResultsFile.open(folder("b", {}))).toBe("there is no results.jsonl");
    folder("c/results.jsonl", {});
    expect(await ResultsFile.open(join(place, "c"))).toBe("results.jsonl is not a file");
  });

  it("that is made shorter while it is open says which rows have gone", async () => {
    const path = folder("run", { "results.jsonl": `${row(0)}\n${row(1)}\n` });
    const file = await opened(path);
    await file.scanTo(1);
    writeFileSync(join(path, "results.jsonl"), "");
    expect(await file.row(1)).toEqual({ problem: "row 2 has gone: the file was made shorter", text: "" });
    await file.close();
  });

  it("that is closed while it is read ends, and breaks nothing", async () => {
    const file = await opened(folder("run", { "results.jsonl": Array.from({ length: 5000 }, (_, i) => row(i, { filling: "x".repeat(500) })).join("\n") }));
    const reading = readAll(file);
    const far = file.row(4999);
    await file.close();
    expect((await reading).length).toBeLessThan(5000);
    expect(await far).toBeNull();
  });
});

describe("the logs of a run", () => {
  it("are merged by time, continuation lines with their entry", async () => {
    const path = folder("run", {
      "env_server.log": "2026-01-01 10:00:00 - a - INFO - one\n2026-01-01 10:00:03 - a - ERROR - four\n  Traceback\n",
      "env_worker_0.log": "2026-01-01 10:00:01 - b - INFO - two\n2026-01-01 10:00:02 - b - INFO - three\u001b[2J\n",
    });
    const merged = mergedLogs(await readLogs(path));
    expect(merged.map((line) => line.split(" - ").at(-1))).toEqual(["one", "two", "three", "four", "  Traceback"]);
  });

  it("of a hundred thousand lines are shown from the end, ten thousand lines", async () => {
    const lines = Array.from({ length: 100_000 }, (_, i) => `2026-01-01 10:00:00 - a - INFO - line ${i}`);
    const [log] = await readLogs(folder("run", { "eval.log": `${lines.join("\n")}\n` }));
    expect(log?.lines).toEqual(lines.slice(-10_000));
    expect(log?.note).toBe("the newest 10000 lines");
  });
});

describe("without a terminal, `eval view`", () => {
  it("prints the runs as a tree", async () => {
    folder("outputs/evals/my-env--openai--small/aaaaaaaa", { "metadata.json": metadata() });
    folder("outputs/evals/my-env--openai--small/bbbbbbbb", { "metadata.json": "" });
    const { code, out } = await runInProcess(["eval", "view"], { cwd: place });
    expect(code).toBe(0);
    expect(out.slice(0, 2)).toEqual(["my-env", "  openai/small"]);
    expect(out.find((line) => line.includes("aaaaaaaa"))).toMatch(
      /^ {4}aaaaaaaa\s+0\.500\s+2\s+25\.0 %\s+\d{4}-\d\d-\d\d \d\d:\d\d\s+outputs\/evals\/my-env--openai--small\/aaaaaaaa$/,
    );
    expect(out.find((line) => line.includes("bbbbbbbb"))).toContain("metadata.json is empty");
  });

  it("prints settings, errors and rewards of the one run that is named", async () => {
    const rows = [row(0), row(1, { error: { error: "ModelError" } }), "{"].join("\n");
    const path = folder("a--b/aaaaaaaa", { "metadata.json": metadata(), "results.jsonl": rows });
    const { code, out } = await runInProcess(["eval", "view", path], { cwd: place });
    expect(code).toBe(0);
    const text = out.join("\n");
    expect(text).toMatch(/sampling\.temperature\s+0\.5/);
    expect(text).toMatch(/rows\s+2, and 1 that cannot be read/);
    expect(text).toMatch(/with an error\s+1 of 2 \(50\.0 %\)/);
    expect(text).toMatch(/ModelError\s+1/);
    expect(text).toMatch(/^ +0 +█+ +1 +50\.0 %$/m);
  });

  it("says where it looked when there is nothing, and what to type", async () => {
    const { code, err } = await runInProcess(["eval", "view"], { cwd: place });
    expect(code).toBe(1);
    expect(err).toContain("there is no results folder in ./outputs/evals and ./environments/*/outputs/evals");
    expect(err).toContain("npx edgewise eval view PATH");
    expect((await runInProcess(["eval", "view", "x", "-o", "y"], { cwd: place })).code).toBe(2);
  });
});

describe("a folder whose examples are wrongly named", () => {
  const question = (id: number, text: string): string => row(id, { prompt: [{ role: "user", content: text.repeat(100) }] });
  const stated = { rollouts_per_example: 2, pass_at_k: { "1": 0.5 }, pass_all_k: { "1": 0.5 } };
  const shown = async (path: string): Promise<string> => (await runInProcess(["eval", "view", path], { cwd: place })).out.join("\n");

  it("is shown without pass@k, and why, whatever it states", async () => {
    const right = folder("a", {
      "metadata.json": metadata(stated),
      "results.jsonl": [question(0, "a"), question(1, "b"), question(0, "a"), question(1, "b")].join("\n"),
    });
    expect(await shown(right)).toMatch(/pass@k +1: 0\.500/);
    const wrong = folder("b", {
      "metadata.json": metadata(stated),
      "results.jsonl": [question(0, "a"), question(0, "b"), question(1, "a"), question(1, "b")].join("\n"),
    });
    const text = await shown(wrong);
    expect(text.replaceAll(/\s+/g, " ")).toContain(
      "2 rollouts have other prompts than the first of their example, so attempts are not grouped as they were made: no pass@k and no interval",
    );
    expect(text).not.toMatch(/^pass/m);
  });

  it("of ours says it itself", async () => {
    const text = await shown(
      folder("c", { "metadata.json": metadata({ edgewise: { grouping_problem: "the groups are not known" } }), "results.jsonl": row(0) }),
    );
    expect(text).toContain("the groups are not known");
  });
});

describe("averages that metadata states", () => {
  const shown = async (more: object, ...rewards: readonly number[]): Promise<string> => {
    const path = folder("outputs/evals/my-env--m/aaaaaaaa", {
      "metadata.json": metadata(more),
      "results.jsonl": rewards.map((reward, id) => `${row(id, { reward, metrics: { right: reward } })}\n`).join(""),
    });
    return (await runInProcess(["eval", "view", path], { cwd: place })).out.join("\n");
  };

  it("give way to those of the rows where these are others, and are told beside them", async () => {
    const stale = await shown({ avg_reward: 0, avg_error: 0.25, avg_metrics: { right: 0 } }, 1, 1, 0.5);
    expect(stale).toMatch(/average reward +0\.833/);
    expect(stale).toMatch(/errors +0\.0 %/);
    expect(stale.replaceAll(/\s+/g, " ")).toContain(
      "stale metadata.json says reward 0, its rows have 0.833; error 0.250, its rows have 0; right 0, its rows have 0.833",
    );
  });

  it("stand where the rows bear them out, where there are none, and while a run of ours goes on", async () => {
    expect(await shown({ avg_reward: 0.75, avg_error: 0 }, 1, 0.5)).not.toContain("stale");
    expect(await shown({ avg_reward: 0.25 })).toMatch(/average reward +0\.250/);
    const running = await shown({ avg_reward: 0.25, edgewise: { status: "RUNNING" } }, 1);
    expect(running).toMatch(/average reward +0\.250/);
    expect(running).not.toContain("stale");
  });
});
