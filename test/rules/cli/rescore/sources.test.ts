import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findExports } from "../../../../src/cli/exports/find-exports.ts";
import { openExport } from "../../../../src/cli/exports/open-export.ts";
import { openFolder } from "../../../../src/cli/exports/open-folder.ts";
import type { OpenedRun } from "../../../../src/cli/exports/opened-run.ts";
import { sourceOf } from "../../../../src/cli/rescore/source.ts";
import { spoolRows } from "../../../../src/cli/rescore/spooled-rows.ts";
import { readMessages } from "../../../../src/rollouts/rows/output.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";
import { METADATA, ROWS, writeRun } from "../../../support/results/exported-run.ts";
import { imported } from "../../../support/results/imported-runs.ts";

const FIXTURES = join(import.meta.dirname, "../../../fixtures/imports");
let cwd = "";
beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-rescore-test-"));
});
afterEach(() => rmSync(cwd, { recursive: true, force: true }));

type Row = Readonly<Record<string, unknown>>;

/** The rows as they are sent, in their order. */
async function sent(run: OpenedRun): Promise<{ readonly rows: readonly Row[]; readonly attempts: number }> {
  const { index, attempts, remove } = await spoolRows(run);
  try {
    const bytes = readFileSync(index.path);
    const rows = index.order.map((at) => {
      const [begin, length] = [index.offset[at] ?? 0, index.bytes[at] ?? 0];
      return JSON.parse(bytes.subarray(begin, begin + length).toString()) as Row;
    });
    return { rows, attempts };
  } finally {
    remove();
  }
}

/** What a scorer reads of a row. */
const read = ({ example_id, rollout_index, prompt, completion, answer, info, reward, error }: Row): Row => ({
  example_id,
  rollout_index,
  prompt: readMessages(prompt, "prompt"),
  completion: readMessages(completion ?? null, "completion"),
  answer: answer ?? null,
  info: info ?? null,
  reward,
  error: error ?? null,
});

describe("what is scored again of a folder", () => {
  it("is all that its rows hold, and every example: how many it says it has does not say which", async () => {
    const run = await openFolder(writeRun(join(cwd, "run")), "run", false);
    const { facts, env_digest, rows_sha256, given } = sourceOf(run);
    expect([facts.run_id, facts.env_id, env_digest, rows_sha256]).toEqual(["0000abcd", "tools", null, null]);
    expect(given).toMatchObject({ model: METADATA.model, num_examples: -1, rollouts_per_example: 2, sampling_args: { temperature: 0.5 } });
    const { rows, attempts } = await sent(run);
    expect(attempts).toBe(2);
    expect(rows).toEqual(ROWS);
  });

  it.each(["jsonl", "parquet"])("is in its export too, as far as scorers read it: %s", async (format) => {
    writeRun(join(cwd, "run"));
    expect((await runInProcess(["export", "run", "-f", format, "-o", "out"], { cwd })).code).toBe(0);
    const [run] = findExports(cwd, "out").flatMap(openExport);
    if (run === undefined) throw new Error("there is no export");
    const { facts, given } = sourceOf(run);
    expect([facts.run_id, facts.env_id, given.model, given.num_examples, given.rollouts_per_example]).toEqual(["0000abcd", "tools", METADATA.model, -1, 2]);
    const { rows, attempts } = await sent(run);
    expect(attempts).toBe(2);
    // Its cells have answers as text.
    const inText = ({ answer, ...row }: Row): Row => read({ ...row, ...(answer === undefined ? {} : { answer: String(answer) }) });
    expect(rows.map(read)).toEqual(ROWS.map(inText));
  });

  it("is in what was imported, whose environment is the other program's task", async () => {
    const { runs } = await imported(cwd, join(FIXTURES, "inspect/reversed-words.eval"));
    const [folder] = runs;
    if (folder === undefined) throw new Error("nothing was imported");
    const run = await openFolder(folder.path, "log", false);
    const { facts, env_digest, rows_sha256 } = sourceOf(run);
    expect({ env: facts.env_id, env_digest }).toEqual({ env: folder.metadata.env_id, env_digest: null });
    expect(rows_sha256).toMatch(/^[0-9a-f]{64}$/);
    const { rows } = await sent(run);
    expect(rows.map(read)).toEqual(folder.rows.map(read));
    expect(rows.every(({ prompt, reward }) => Array.isArray(prompt) && typeof reward === "number")).toBe(true);
  });
});
