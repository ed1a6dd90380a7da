import { execFile } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, afterEach, beforeEach, describe, expect, it } from "vitest";
import { runInProcess } from "../../support/cli/cli-in-process.ts";
import { ROWS, writeRun } from "../../support/results/exported-run.ts";
import { TOKEN } from "../../support/mock-hub/mock-hub.ts";
import { type MockHubServer, startMockHub } from "../../support/mock-hub/mock-hub-server.ts";

/** A Python with `huggingface_hub` and `datasets`. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
if (PYTHON === "") console.log("skipped: EDGEWISE_TEST_PYTHON is not set (the Hub's own client against the mock Hub, and against what was pushed)");

const cwd = mkdtempSync(join(tmpdir(), "edgewise-hub-python-"));
afterAll(() => rmSync(cwd, { recursive: true, force: true }));
let server: MockHubServer;
beforeEach(async () => {
  server = await startMockHub({ multipart: { from: 200_000, chunk: 64_000 } });
});
afterEach(() => server.close());

async function python(...args: readonly string[]): Promise<unknown> {
  const env = { ...process.env, HF_ENDPOINT: server.url, HF_TOKEN: TOKEN, HF_HUB_DISABLE_XET: "1", HF_HOME: join(cwd, "home"), HF_HUB_DISABLE_TELEMETRY: "1" };
  const { stdout } = await promisify(execFile)(PYTHON, [join(import.meta.dirname, "../../support/results/hub-client.py"), ...args], { env, maxBuffer: 1e8 });
  return JSON.parse(stdout) as unknown;
}

describe.skipIf(PYTHON === "")("the Hub's own client", () => {
  it("uploads to the mock Hub as to the real one: whole files, parts and the commit", { timeout: 120_000 }, async () => {
    const folder = join(cwd, "folder");
    mkdirSync(folder);
    writeFileSync(join(folder, "README.md"), "---\nlicense: mit\n---\nText\n");
    writeFileSync(join(folder, "small.parquet"), "small");
    writeFileSync(join(folder, "large.parquet"), Buffer.alloc(300_000, 7));
    expect(await python("upload", "me/theirs", folder)).toEqual({
      commit: server.hub.head("me/theirs")?.oid,
      files: [".gitattributes", "README.md", "large.parquet", "small.parquet"],
    });
    expect(server.hub.asked.filter((line) => line.startsWith("PUT /lfs/part/"))).toHaveLength(5);
    expect(server.hub.problems.filter((problem) => problem !== "a commit without parentCommit")).toEqual([]);
  });

  it("reads each config of a data set that runs were pushed to", { timeout: 120_000 }, async () => {
    writeRun(join(cwd, "a"));
    writeRun(join(cwd, "b"), {}, ROWS.slice(0, 2));
    for (const name of ["a", "b"]) {
      const args = ["push", name, "--to", "hf:me/runs", "--config", `run-${name}`];
      expect((await runInProcess(args, { cwd, env: { HF_ENDPOINT: server.url, HF_TOKEN: TOKEN } })).code).toBe(0);
    }
    const rewards = ROWS.map(({ reward }) => reward);
    expect(await python("read", "me/runs", "run-a", join(cwd, "cache"))).toEqual({ rewards, completions: [3, null, 0, 1] });
    expect(await python("read", "me/runs", "run-b", join(cwd, "cache"))).toMatchObject({ rewards: rewards.slice(0, 2) });
    expect(server.hub.problems).toEqual([]);
  });
});
