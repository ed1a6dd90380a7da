import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { MUTATIONS } from "./mutations.ts";

const ROOT = resolve(import.meta.dirname, "../../..");
const SCHEDULES = "2000";

describe("the simulator finds a broken rule", () => {
  let copy = "";
  beforeAll(() => {
    copy = mkdtempSync(join(tmpdir(), "edgewise-mutation-"));
    for (const part of ["src", "durable-objects", "r2-layout", "test/simulation", "test/support", "package.json"]) {
      cpSync(join(ROOT, part), join(copy, part), { recursive: true });
    }
    symlinkSync(join(ROOT, "node_modules"), join(copy, "node_modules"));
  });
  afterAll(() => rmSync(copy, { recursive: true, force: true }));

  it("and finds nothing in the rules as they are", () => {
    const output = execFileSync(process.execPath, [join(copy, "test/simulation/main.ts"), "100"], { encoding: "utf8", timeout: 120_000 });
    expect(output).toContain("no invariant broken");
  }, 130_000);

  for (const mutation of MUTATIONS) {
    it(mutation.name, () => {
      const file = join(copy, mutation.file);
      const source = readFileSync(file, "utf8");
      expect(source.split(mutation.find), `${mutation.file} must contain the rule once`).toHaveLength(2);
      writeFileSync(
        file,
        source.replace(mutation.find, () => mutation.replace),
      );
      try {
        const { fleet = false, first = 1 } = mutation;
        const played = [join(copy, "test/simulation/main.ts"), fleet ? "0" : SCHEDULES, String(first)];
        const run = spawnSync(process.execPath, played, { encoding: "utf8", timeout: 120_000 });
        expect(run.stderr).toMatch(/FAILED seed \d+ at [\d.]+ ms: invariant/);
        expect(run.status).toBe(1);
      } finally {
        writeFileSync(file, source);
      }
    }, 130_000);
  }
});
