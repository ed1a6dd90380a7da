import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keysOf, metadataOf, rowsOf, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import { grid } from "../../support/cli/in-place.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

const FOLDERS = join(import.meta.dirname, "../../fixtures/verifiers-folders");
const THEIRS = "outputs/evals/reverse-text--scripted/00c0ffee";

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

/** Bytes and times of a folder and all files in it. */
const timesIn = (folder: string): readonly unknown[] =>
  [".", ...readdirSync(folder)].map((name) => [
    name,
    statSync(join(folder, name), { bigint: true }).mtimeNs,
    name === "." ? null : readFileSync(join(folder, name), "utf8"),
  ]);

const resume = (...args: readonly string[]) => place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-R", ...args]);

describe("a folder of the Python library", () => {
  it.each([
    ["0.1.12", ["generation_ms", "scoring_ms", "total_ms", "start_time"], "time_ms"],
    ["0.1.14", ["start_time", "setup", "generation", "scoring", "model", "env", "total", "overhead"], "time"],
  ] as const)("of %s that was interrupted is found, finished in its own shape, and grows", { timeout: 90_000 }, async (version, timing, time) => {
    const folder = join(place.folder, THEIRS);
    cpSync(join(FOLDERS, `${version}-interrupted`), folder, { recursive: true });
    const kept = readFileSync(join(folder, "results.jsonl"), "utf8").split("\n").slice(0, -1);
    writeFileSync(join(folder, "results.jsonl"), `${kept.join("\n")}\n{"example_id": 3, "prom`);

    const metadata = join(folder, "metadata.json");
    writeFileSync(metadata, readFileSync(metadata, "utf8").replace("http://127.0.0.1:1/v1", model.url));

    const { code, stdout, stderr } = await place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-n", "6", "-r", "2", "-R"]);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^Run 00c0ffee goes on: reverse-text/)]);
    expect(stdout).toContain(`Results: ${THEIRS}`);
    expect(keysOf(folder)).toEqual(grid(6, 2));
    const lines = readFileSync(join(folder, "results.jsonl"), "utf8").split("\n");
    for (const line of kept) expect(lines.some((now) => now.startsWith(line.slice(0, -1)))).toBe(true);
    const rows = rowsOf(folder) as unknown as readonly { readonly timing: object }[];
    for (const row of rows) expect([Object.keys(row), Object.keys(row.timing)]).toEqual([Object.keys(rows[0] ?? {}), timing]);
    expect(metadataOf(folder)).toHaveProperty(time, expect.any(Number));
    expect(model.ledger.stats().total).toBe(12 - kept.length);

    const before = timesIn(folder);
    expect((await resume(THEIRS)).stderr).toContain("has nothing left to do");
    expect(timesIn(folder), "of ours by now").toEqual(before);
    expect((await resume(THEIRS, "-n", "7")).stderr).toContain("2 rollouts to do");
    expect(keysOf(folder)).toEqual(grid(7, 2));
  });

  it("that is complete keeps every byte and every time, its own among them, however often it is resumed", { timeout: 60_000 }, async () => {
    const folder = join(place.folder, THEIRS);
    cpSync(join(FOLDERS, "0.1.12-finished"), folder, { recursive: true });
    const before = timesIn(folder);
    for (const _ of ["unknown to the service", "known to it"]) {
      const { code, stdout } = await resume(THEIRS);
      expect([code, stdout]).toEqual([0, expect.stringContaining(`Results: ${THEIRS}`)]);
      expect(stdout).toContain("reward: avg - 0.757");
      expect(timesIn(folder)).toEqual(before);
    }
    expect(model.ledger.stats().total).toBe(0);
  });

  it("whose rows cannot be taken over stays as it is, and is taken when it is mended", { timeout: 60_000 }, async () => {
    const folder = join(place.folder, THEIRS);
    cpSync(join(FOLDERS, "0.1.14-interrupted"), folder, { recursive: true });
    const rows = readFileSync(join(folder, "results.jsonl"), "utf8");
    const foreign = rows.replaceAll('"example_id": 1,', '"example_id": 77,');
    const metadata = readFileSync(join(folder, "metadata.json"), "utf8");
    writeFileSync(join(folder, "results.jsonl"), foreign);
    const { code, stderr } = await resume(THEIRS);
    expect([code, stderr]).toEqual([1, expect.stringContaining("has rows of example 77, which is not among the 6 examples")]);
    expect(readFileSync(join(folder, "results.jsonl"), "utf8")).toBe(foreign);
    expect(readFileSync(join(folder, "metadata.json"), "utf8")).toBe(metadata);
    expect(model.ledger.stats().total).toBe(0);

    writeFileSync(join(folder, "results.jsonl"), rows);
    expect((await resume(THEIRS)).code).toBe(0);
    expect(keysOf(folder)).toEqual(grid(6, 2));
  });
});
