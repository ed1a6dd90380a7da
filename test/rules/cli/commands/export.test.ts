import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { METADATA, ROWS, writeRun } from "../../../support/results/exported-run.ts";

let cwd = "";
let service: FakeService | null = null;
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-export-"));
});
afterEach(async () => {
  await service?.close();
  service = null;
  rmSync(cwd, { recursive: true, force: true });
});

const exported = (...args: readonly string[]) => runInProcess(["export", ...args], { cwd });
const text = (...path: readonly string[]): string => readFileSync(join(cwd, ...path), "utf8");
const linesOf = (...path: readonly string[]): Record<string, unknown>[] =>
  text(...path)
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as Record<string, unknown>);

describe("export of a results folder", () => {
  it("takes away what a killed command left, and nothing else", async () => {
    writeRun(join(cwd, "run"));
    // No process has such a number.
    for (const name of ["one.4194999.tmp/data", `two.${process.pid}.tmp/data`, "three.4194999.tmp/notes", "four.tmp/data"])
      mkdirSync(join(cwd, "exports", name), { recursive: true });
    expect((await exported("run", "-o", "exports/new")).code).toBe(0);
    expect(readdirSync(join(cwd, "exports"))).toEqual(["four.tmp", "new", "three.4194999.tmp", `two.${process.pid}.tmp`]);
  });

  it("is a folder with its rows, and a card that says what they are and what made them", async () => {
    writeRun(join(cwd, "run"));
    expect(await exported("run")).toMatchObject({ code: 0, out: [expect.stringMatching(/^Export: exports\/tools--openai-small-model-/)] });
    const [name = ""] = readdirSync(join(cwd, "exports"));
    const rows = (await parquetReadObjects({
      file: new Uint8Array(readFileSync(join(cwd, "exports", name, "data/train-00000-of-00001.parquet"))).buffer,
    })) as object[];
    expect(rows.map((row) => (row as { reward: number }).reward)).toEqual(ROWS.map(({ reward }) => reward));
    const card = text("exports", name, "README.md");
    expect(card).toContain("    path: data/train-*.parquet\n");
    expect(card).toContain("npx edgewise export run --format parquet");
    // Nothing in a name is markup.
    expect(card).toContain("| 0000abcd | tools | openai/small\\|\\*model\\* | 0.188 | ");
    expect(card).toContain("pass@k: 1 0.250, 2 0.500");
    expect(card).toMatch(/\| 4 \| 2 \| 1 \|\n/);
  });

  it.each(["csv", "jsonl"])("may be %s", async (format) => {
    writeRun(join(cwd, "run"));
    expect(await exported("run", "--format", format, "-o", "out")).toMatchObject({ code: 0, out: ["Export: out"] });
    expect(text("out", "data", `train-00000-of-00001.${format}`)).toContain("call_1");
    expect(await exported("run", "-f", "xml")).toMatchObject({ code: 2, err: expect.stringContaining("parquet, csv, jsonl") });
  });

  it("of several runs has their settings in columns, and metrics that only some have as null", async () => {
    writeRun(join(cwd, "runs/a"));
    writeRun(join(cwd, "runs/b"), { env_id: "other", avg_metrics: { tone: 1 } }, [{ ...ROWS[0], metrics: { tone: 1 }, tone: 1 }]);
    expect((await exported("runs", "-f", "jsonl", "-o", "out")).code).toBe(0);
    const rows = linesOf("out", "data", "train-00000-of-00001.jsonl");
    expect(rows.map(({ env_id, rollouts_per_example, tone }) => [env_id, rollouts_per_example, tone])).toEqual([
      ["other", 2, 1],
      ...ROWS.map(() => ["tools", 2, null]),
    ]);
    expect(rows[1]).toMatchObject({ run_id: "0000abcd", env_args: '{"difficulty":"hard"}', sampling_args: '{"n":1,"temperature":0.5}' });
    expect(text("out", "README.md")).toContain("5 rollouts of 2 evaluations");
  });

  it("of a run that has not ended has its whole examples, in order, and all rows where that is asked for", async () => {
    const [first, second, third] = ROWS;
    writeRun(join(cwd, "run"), { edgewise: { ...METADATA.edgewise, status: "RUNNING" } }, [third ?? {}, second ?? {}, first ?? {}]);
    const { err } = await exported("run", "-f", "jsonl", "-o", "whole");
    expect(err).toContain("warning: run has not ended: these are its rows so far. 1 of its rows are left out");
    expect(linesOf("whole", "data", "train-00000-of-00001.jsonl").map(({ rollout_index }) => rollout_index)).toEqual([0, 1]);
    await exported("run", "-f", "jsonl", "-o", "all", "--partial");
    expect(linesOf("all", "data", "train-00000-of-00001.jsonl")).toHaveLength(3);
  });

  it("of Python's verifiers has its rows whichever version wrote them", async () => {
    const fixtures = join(import.meta.dirname, "../../../fixtures");
    for (const folder of ["verifiers-0.1.9", ...readdirSync(join(fixtures, "verifiers-folders")).map((name) => join("verifiers-folders", name))]) {
      expect((await exported(join(fixtures, folder), "-f", "jsonl", "-o", folder)).code).toBe(0);
      const theirs = readFileSync(join(fixtures, folder, "results.jsonl"), "utf8")
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Record<string, unknown>);
      const ours = linesOf(folder, "data", "train-00000-of-00001.jsonl");
      expect(ours.map(({ reward, similarity }) => [reward, similarity])).toEqual(theirs.map(({ reward, similarity }) => [reward, similarity]));
      // The path of a machine is nobody's business.
      expect(text(folder, "README.md")).not.toContain(fixtures);
    }
  });
});

describe("an export that cannot be", () => {
  it("of what is no run says what it takes, and leaves nothing", async () => {
    expect(await exported("nothing")).toMatchObject({ code: 2, err: expect.stringContaining('"nothing" is neither a run id nor a folder that is there') });
    mkdirSync(join(cwd, "empty"));
    expect(await exported("empty")).toMatchObject({ code: 2, err: expect.stringContaining("there is no results folder in empty") });
    writeRun(join(cwd, "run"));
    expect((await exported("run", "-o", "made")).code).toBe(0);
    expect(await exported("made", "-o", "again")).toMatchObject({
      code: 2,
      err: expect.stringMatching(/made is an export, and this command takes the run itself[\s\S]*Name the run's id or results folder/),
    });
    mkdirSync(join(cwd, "begun"));
    writeFileSync(join(cwd, "begun/metadata.json"), JSON.stringify(METADATA));
    expect(await exported("begun")).toMatchObject({ code: 2, err: expect.stringContaining("begun has no results.jsonl") });
    expect(existsSync(join(cwd, "exports"))).toBe(false);
  });

  it("into a folder that is not empty, or where nothing may be written, leaves that as it is", async () => {
    writeRun(join(cwd, "run"));
    expect(await exported("run", "-o", "run")).toMatchObject({ code: 2, err: expect.stringContaining("exists already and is not empty") });
    expect(await exported("run", "-o", "run/metadata.json")).toMatchObject({ code: 2, err: expect.stringContaining("is a file") });
    expect(await exported("run", "-o", "/proc/edgewise")).toMatchObject({
      code: 1,
      err: expect.stringContaining("the export could not be written to /proc/edgewise"),
    });
    expect(readdirSync(cwd)).toEqual(["run"]);
  });

  it("of a row that is damaged names it, and leaves nothing", async () => {
    writeRun(join(cwd, "run"));
    const whole = text("run", "results.jsonl");
    writeFileSync(join(cwd, "run/results.jsonl"), whole.replace('{"example_id":1', "{example_id:1"));
    expect(await exported("run", "-o", "out")).toMatchObject({ code: 1, err: expect.stringContaining("row 3 of run is no JSON object") });
    writeFileSync(join(cwd, "run/results.jsonl"), whole.replace('"name\\": \\"add\\"', '"title\\": \\"add\\"'));
    expect(await exported("run", "-o", "out")).toMatchObject({ code: 1, err: expect.stringContaining("row 1 of run cannot be exported") });
    expect(readdirSync(cwd)).toEqual(["run"]);
  });
});

describe("export of a run of the service", () => {
  const ID = "0000abcd";
  async function serve(settled: boolean): Promise<void> {
    service = await startFakeService(({ path, query }, response) => {
      const route = path.replace("/api/v1/evaluations/", "");
      if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
      if (route === ID) return sendJson(response, 200, { evaluation_id: ID, edgewise: { settled } });
      if (route === `${ID}/files/metadata.json`) return sendJson(response, 200, METADATA);
      if (route === `${ID}/files/results.jsonl` && settled) return void response.end(ROWS.map((row) => `${JSON.stringify(row)}\n`).join(""));
      // The second page begins with a row of the first, since another came before it meanwhile.
      if (route === `${ID}/samples`)
        return sendJson(response, 200, query.get("page") === "1" ? { samples: ROWS.slice(0, 2), has_more: true } : { samples: ROWS.slice(1), has_more: false });
      return sendJson(response, 404, { detail: "Evaluation not found.", code: "not_found" });
    });
  }
  const ask = (...args: readonly string[]) => runInProcess(["export", ...args], { cwd, env: { EDGEWISE_URL: service?.url ?? "", EDGEWISE_TOKEN: "secret" } });

  it.each([true, false])("has its final rows, or of one that goes on those that are done, each once (settled: %s)", async (settled) => {
    await serve(settled);
    const { code, err } = await ask(ID, "-f", "jsonl", "-o", "out");
    expect(code).toBe(0);
    expect(err.includes("has not ended")).toBe(!settled);
    expect(linesOf("out", "data", "train-00000-of-00001.jsonl").map(({ reward }) => reward)).toEqual(ROWS.map(({ reward }) => reward));
  });

  it("that there is none of says so", async () => {
    await serve(true);
    expect(await ask("0000dead")).toMatchObject({ code: 1, err: expect.stringContaining("knows no run 0000dead") });
  });
});
