import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { type Bench, grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";

const MIB = 1024 * 1024;
const LANES = 32;
const EXAMPLES = 2_000;

/** A disk of its own for a test; null where this process may not mount one. */
function smallDisk(bytes: number): { readonly path: string; readonly remove: () => void } | null {
  const path = mkdtempSync(join(tmpdir(), "edgewise-disk-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", `size=${bytes}`, "tmpfs", path], { stdio: "ignore" });
  } catch {
    rmSync(path, { recursive: true });
    return null;
  }
  const remove = (): void => {
    // Lazily: whatever still ends there keeps it until it has.
    execFileSync("umount", ["-l", path]);
    rmSync(path, { recursive: true });
  };
  return { path, remove };
}

const freeOf = (path: string): number => {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
};

describe("a state folder whose disk is full", () => {
  it("stops the calls until there is room, says so, and pays for no answer twice", { timeout: 180_000 }, async (test) => {
    const disk = smallDisk(40 * MIB);
    if (disk === null) return test.skip("this process may not mount a tmpfs (it takes root)");
    try {
      await inPlace({ latency_ms: 40 }, (bench) => fillAndFree(bench, disk.path))();
    } finally {
      disk.remove();
    }
  });
});

async function fillAndFree(bench: Bench, disk: string): Promise<void> {
  const { model, place } = bench;
  const state = join(disk, "state");
  const ballast = join(disk, "ballast");
  const calls = (): number => model.ledger.stats().total;
  const cli = place.start(bench.reverse("-n", String(EXAMPLES), "-r", "1", "-c", String(LANES)), { EDGEWISE_STATE_DIR: state });
  await until(() => calls() >= 3 * LANES, 60_000);
  writeFileSync(ballast, new Uint8Array(freeOf(disk) - 256 * 1024));
  await cli.says(/warning: state disk is full: .* for .*state; waiting for room/, 60_000);
  // Nothing is asked any more, for longer than a lease lasts.
  let before = -1;
  let since = Date.now();
  await until(
    () => {
      const now = calls();
      if (now !== before) since = Date.now();
      before = now;
      return Date.now() - since > 9_000;
    },
    90_000,
    () => `the calls to stop: ${calls()} by now`,
  );
  expect(before).toBeLessThan(EXAMPLES);
  rmSync(ballast);
  expect(await cli.ended, cli.stderr()).toBe(0);
  expect(cli.stderr()).toContain("There is room again for");
  // What was in flight when the lease ended may be asked for again; what was answered is not.
  expect(calls()).toBeLessThanOrEqual(EXAMPLES + LANES);
  expect(keysOfRows(bench.rows)).toEqual(grid(EXAMPLES, 1));
  expect(cli.stderr()).toMatch(/warning: Storage did not work for \d+ s \(/);
}
