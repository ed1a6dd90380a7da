import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, statSync, unlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { METADATA, ROWS, writeRun } from "../../../support/results/exported-run.ts";

let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-verify-export-"));
});
afterEach(() => {
  vi.unstubAllEnvs();
  rmSync(cwd, { recursive: true, force: true });
});

const FORMATS = ["parquet", "csv", "jsonl"] as const;
const verified = (...args: readonly string[]) => runInProcess(["verify", ...args], { cwd });
const data = (name: string): string => join(cwd, "out/data", name);
const onlyFile = (format: string): string => data(`train-00000-of-00001.${format}`);
const wrong = (out: readonly string[]): readonly string[] => out.filter((line) => line.startsWith("  WRONG  ")).map((line) => line.slice("  WRONG  ".length));

/** The export `out` of runs that are written for it. */
async function exported(format: string, ...runs: readonly string[]): Promise<void> {
  for (const [at, run] of runs.entries()) writeRun(join(cwd, run), { edgewise: { ...METADATA.edgewise, run_id: `0000000${at}` } });
  const { code, err } = await runInProcess(["export", ...runs, "-f", format, "-o", "out"], { cwd });
  expect([code, err]).toEqual([0, expect.stringContaining("rows in")]);
}

/** Changes bytes of a file in their place. */
function change(path: string, from: string, to: string): void {
  const bytes = readFileSync(path);
  const at = bytes.indexOf(from);
  expect(at).toBeGreaterThanOrEqual(0);
  expect(Buffer.byteLength(to)).toBe(Buffer.byteLength(from));
  bytes.write(to, at);
  writeFileSync(path, bytes);
}

describe("verify of an export", () => {
  it.each(FORMATS)("says of %s that is as it was written that it is, number by number", async (format) => {
    await exported(format, "run");
    const { code, out } = await verified("out");
    expect([code, out[0], wrong(out)]).toEqual([0, "out: verified", []]);
    const text = out.join("\n");
    expect(text).toMatch(new RegExp(`ok {5}data/train-00000-of-00001\\.${format}: 4 rows, sha256 [0-9a-f]{64}\n`));
    for (const number of ["reward 0.1875", "num turns 1.25", "pass@2 0.5", "pass^2 0", "errored rollouts 1", "errors timeout 1"])
      expect(text).toContain(`ok     ${number}`);
    for (const named of [".", "out/README.md", `out/data/train-00000-of-00001.${format}`]) {
      const again = await verified(named);
      expect([again.code, again.out.join("\n")]).toEqual([0, expect.stringContaining("ok     pass@2 0.5")]);
    }
  });

  it.each([
    ["an answer in Parquet", "parquet", 'HYPERLINK("http://x")', 'HYPERLINK("http://y")', ["row 4 (example 1, rollout 1)"]],
    ["an answer in CSV", "csv", "HYPERLINK", "HYPERLINC", ["row 4 (example 1, rollout 1)"]],
    ["a reward in CSV", "csv", ",0.25,", ",0.75,", ["row 3 (example 1, rollout 0)", "reward: the card has 0.1875, the rows give 0.3125"]],
    ["an answer in JSON Lines", "jsonl", "HYPERLINK", "HYPERLINC", ["row 4 (example 1, rollout 1)"]],
    ["a reward in JSON Lines", "jsonl", '"reward":0.25', '"reward":0.75', ["row 3 (example 1, rollout 0)", "reward: the card has 0.1875"]],
    ["what is no UTF-8 in CSV", "csv", "ün", "\\\\\\", ["row 4 (example 1, rollout 1)"]],
    ["an error in JSON Lines", "jsonl", '"code":"timeout"', '"code":"timeouT"', ["row 2 (example 0, rollout 1)"]],
  ])("names the row in which %s was changed", async (_, format, from, to, told) => {
    await exported(format, "run");
    change(onlyFile(format), from, to);
    const { code, out } = await verified("out");
    expect([code, out[0]]).toEqual([1, "out: WRONG"]);
    for (const text of told) expect(wrong(out).join("\n")).toContain(text);
    expect(wrong(out).filter((line) => line.includes("is not as it was written"))).toHaveLength(1);
    expect(wrong(out)[0]).toContain(`data/train-00000-of-00001.${format}: `);
  });

  it.each(FORMATS)("finds any byte of %s that was changed", async (format) => {
    await exported(format, "run");
    const path = onlyFile(format);
    const before = readFileSync(path);
    for (let at = 0; at < before.byteLength; at += Math.ceil(before.byteLength / 40)) {
      const bytes = Buffer.from(before);
      bytes[at] = (bytes[at] ?? 0) ^ 1;
      writeFileSync(path, bytes);
      const { code, out } = await verified("out");
      expect([at, code, wrong(out).length > 0]).toEqual([at, 1, true]);
    }
  });

  it.each(FORMATS)("of %s in several files names the file that is gone, that is one too many, and that is cut off", async (format) => {
    // Before its first row a CSV file has its header.
    vi.stubEnv("EDGEWISE_SHARD_BYTES", format === "csv" ? "1000" : "10");
    await exported(format, "run");
    const names = readdirSync(join(cwd, "out/data")).sort();
    expect(names.length).toBeGreaterThanOrEqual(3);
    expect((await verified("out")).code).toBe(0);
    const [first = "", second = "", third = ""] = names;
    cpSync(data(first), data(`train-00004-of-00005.${format}`));
    unlinkSync(data(second));
    truncateSync(data(third), statSync(data(third)).size - 20);
    const { code, out } = await verified("out");
    expect([code, wrong(out)]).toEqual([
      1,
      [
        `data/${second}: is not there`,
        expect.stringMatching(new RegExp(`^data/${third}: `)),
        `data/train-00004-of-00005.${format}: the card does not tell of it`,
      ],
    ]);
    expect(out.join("\n")).toContain("the numbers of the card are of all rows, which are not all here");
    expect((await verified(`out/data/${first}`)).out.join("\n")).toMatch(/sha256 [0-9a-f]{64}\n.*not compared\n.*1 rows: reward 1/);
    unlinkSync(join(cwd, "out/README.md"));
    expect(wrong((await verified("out")).out)).toContain(`data/${second}: is not there`);
  });

  it.each(FORMATS)("of several runs in %s makes the numbers of each", async (format) => {
    await exported(format, "first", "second");
    const { code, out } = await verified("out");
    expect([code, wrong(out)]).toEqual([0, []]);
    for (const run of ["00000000", "00000001"]) expect(out).toContain(`  ok     ${run}: pass@2 0.5`);
    if (format === "parquet") return;
    const text = readFileSync(onlyFile(format), "utf8");
    const at = text.lastIndexOf("0.25");
    writeFileSync(onlyFile(format), `${text.slice(0, at)}0.75${text.slice(at + 4)}`);
    expect(wrong((await verified("out")).out)).toEqual([
      `data/train-00000-of-00001.${format}: row 7 (run 00000001, example 1, rollout 0) is not as it was written`,
      "00000001: reward: the card has 0.1875, the rows give 0.3125",
      expect.stringContaining("00000001: pass@1: the card has 0.25"),
      expect.stringContaining("00000001: pass@2: the card has 0.5"),
      expect.stringContaining("00000001: pass^1: the card has 0.25"),
    ]);
  });

  it.each(FORMATS)("of a file of %s without a card says what cannot be told, and what its rows give", async (format) => {
    await exported(format, "run");
    cpSync(onlyFile(format), join(cwd, `alone.${format}`));
    const { code, out } = await verified(`alone.${format}`);
    expect([code, out]).toEqual([
      0,
      [
        `alone.${format}: verified`,
        "  -      there is no card (README.md): whether a row was changed, or is missing, cannot be told",
        `  ok     alone.${format}: 4 rows`,
        expect.stringMatching(/^ {2}- {6}4 rows: reward 0\.1875, correct 0\.333.*, num turns 1\.25, errors timeout 1$/),
      ],
    ]);
    truncateSync(join(cwd, `alone.${format}`), statSync(join(cwd, `alone.${format}`)).size - 300);
    expect(await verified(`alone.${format}`)).toMatchObject({ code: 1, out: expect.arrayContaining([expect.stringContaining("cannot be read")]) });
  });

  it("finds a number of the card that was changed, and a card that is damaged", async () => {
    await exported("csv", "run");
    const card = join(cwd, "out/README.md");
    change(card, '"avg_reward":0.1875', '"avg_reward":0.9875');
    expect(wrong((await verified("out")).out)).toEqual(["reward: the card has 0.9875, the rows give 0.1875"]);
    change(card, '"rows":4', '"rows":x');
    expect(wrong((await verified("out")).out)[0]).toContain("README.md: the front matter of the card is not as it is written: edgewise.files.0.rows");
    change(card, "version: 1", "version: 9");
    expect(wrong((await verified("out")).out)[0]).toContain("states its files in version 9");
  });

  it("of a run without rows, with odd texts and many metrics, finds all as it was written", async () => {
    const odd = "\u0085\u007f\u2028\ud800\ufeff\r\n,\"' \n";
    const metrics = Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`m ${at}${at === 7 ? odd.toWellFormed() : ""}`, at / 7]));
    const rows = ROWS.map((row, at) => ({ ...row, answer: `${odd}${at}`, metrics: { ...metrics, "1": at, reward: -0, gone: null }, state: { metrics: 1 } }));
    const average = Object.fromEntries([...Object.keys(metrics), "1", "reward"].map((name) => [name, 0]));
    for (const format of FORMATS) {
      writeRun(join(cwd, "none"), {}, []);
      writeRun(join(cwd, "odd"), { env_id: `odd ${odd}`, avg_metrics: average }, rows);
      for (const run of ["none", "odd"]) {
        const folder = `${run}-${format}`;
        expect((await runInProcess(["export", run, "-f", format, "-o", folder], { cwd })).code).toBe(0);
        const { code, out } = await verified(folder);
        expect([code, wrong(out)]).toEqual([0, []]);
      }
    }
  });

  it("of Python's verifiers finds the rows as they were written", async () => {
    const fixtures = join(import.meta.dirname, "../../../fixtures/verifiers-folders");
    const folders = readdirSync(fixtures).filter((name) => readdirSync(join(fixtures, name)).includes("results.jsonl"));
    for (const folder of folders) {
      for (const format of FORMATS) {
        const made = await runInProcess(["export", join(fixtures, folder), "-f", format, "-o", `${folder}-${format}`], { cwd });
        if (made.code !== 0) continue;
        const { code, out } = await verified(`${folder}-${format}`);
        expect([folder, format, code, wrong(out)]).toEqual([folder, format, 0, []]);
      }
    }
    expect((await verified(".")).out.filter((line) => line.endsWith(": verified")).length).toBeGreaterThanOrEqual(3 * 2);
  });
});
