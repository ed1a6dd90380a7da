/**
 * Results folders between Python's `verifiers` and this library, with the real `vf-eval`:
 *
 *   python3 -m venv venv && venv/bin/pip install verifiers==0.1.14
 *   node tools/verifiers-round-trip.ts venv/bin/vf-eval [--record] [--priced]
 *
 * A run of theirs is interrupted half way and finished here, and grows here; a run of ours is interrupted, a row of it is cut, and it is
 * finished there, then seen to be whole here, and grows here. Needs a built `dist/`. Prints one line per step; exit code 1 at the first
 * that fails. `--record` keeps the folders in test/fixtures/verifiers-folders, from which `npm test` goes on without Python. With
 * `--priced` the run of ours has a price: its rows and `metadata.json` say what it cost.
 */
import { strictEqual as equal, deepStrictEqual as same, ok } from "node:assert";
import { spawn } from "node:child_process";
import { appendFileSync, copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { loadEnvironment } from "../src/environments/definition/load.ts";
import { until, Workplace } from "../test/support/cli/cli-process.ts";
import { startModelServer } from "../test/support/model-server/model-server.ts";
import { memoryDatasets } from "../test/support/environments/memory-datasets.ts";

const FIXTURES = join(import.meta.dirname, "../test/fixtures/verifiers-folders");
const ENVIRONMENT = join(import.meta.dirname, "verifiers/reverse_text.py");
const [EXAMPLES, GROWN, ROLLOUTS] = [6, 8, 2];
/** Of metadata from 0.1.15 on: not carried on here, and not asked for there. */
const LATER_KEYS = ["name", "shuffle", "shuffle_seed", "cost"];
/** Starting Python takes its time. */
const START_MS = 120_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { record: { type: "boolean", default: false }, priced: { type: "boolean", default: false } },
});
const [program] = positionals;
if (program === undefined) {
  console.error("usage: node tools/verifiers-round-trip.ts PATH/TO/vf-eval [--record] [--priced]");
  process.exit(2);
}
const vfEval = resolve(program);

type Row = Record<string, unknown>;
const linesOf = (folder: string): string[] => {
  const path = join(folder, "results.jsonl");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").slice(0, -1) : [];
};
const rowsIn = (folder: string): Row[] => linesOf(folder).map((line) => JSON.parse(line) as Row);
const metadataIn = (folder: string): Row => JSON.parse(readFileSync(join(folder, "metadata.json"), "utf8")) as Row;
const countsIn = (folder: string): number[] => {
  const counts = new Map<unknown, number>();
  for (const { example_id } of rowsIn(folder)) counts.set(example_id, (counts.get(example_id) ?? 0) + 1);
  return [...counts.values()];
};
const said = (step: string): void => console.log(`ok      ${step}`);

const model = await startModelServer({ latency_ms: 400, accuracy: 0.7 });
const place = new Workplace();
const python = mkdtempSync(join(tmpdir(), "edgewise-verifiers-"));
const groups: number[] = [];
try {
  await writeEnvironment();
  const { version, shape } = await theirs();
  await ours(version);
  console.log(`verifiers ${version} (${shape}): both ways`);
} finally {
  for (const group of groups) endGroup(group);
  place.remove();
  rmSync(python, { recursive: true, force: true, maxRetries: 5 });
  await model.close();
}

/** The rows of the environment here, for the one in Python. */
async function writeEnvironment(): Promise<void> {
  copyFileSync(ENVIRONMENT, join(python, "reverse_text.py"));
  const environment = await loadEnvironment("reverse-text", {}, { datasets: memoryDatasets() });
  const inputs = await Array.fromAsync(environment.examples(GROWN));
  const rows = inputs.map(({ question, answer, prompt }) => JSON.stringify({ question, answer, system_prompt: prompt[0]?.content }));
  writeFileSync(join(python, "rows.jsonl"), `${rows.join("\n")}\n`);
}

/** A run of theirs, finished here. */
async function theirs(): Promise<{ version: string; shape: string }> {
  const run = vf(EXAMPLES, []);
  const folder = await firstFolder(join(python, "outputs/evals/reverse-text--scripted"));
  await until(
    () => linesOf(folder).length >= 3,
    START_MS,
    () => `rows in ${folder}`,
  );
  run.interrupt();
  await run.ended;
  const kept = linesOf(folder);
  ok(kept.length < EXAMPLES * ROLLOUTS, "the run was over before it was interrupted");
  const before = metadataIn(folder);
  const version = String((before.version_info as Row).vf_version);
  said(`verifiers ${version} was interrupted with ${kept.length} of ${EXAMPLES * ROLLOUTS} rows`);
  record(folder, `${version}-interrupted`);

  await edgewise(["-R", folder]);
  checkWhole(folder, EXAMPLES);
  const after = linesOf(folder);
  for (const line of kept)
    ok(
      after.some((now) => now.startsWith(line.slice(0, -1))),
      "a row of theirs was changed",
    );
  const [first, ...others] = rowsIn(folder);
  const shapeOf = (row: Row): unknown => [Object.keys(row), Object.keys(row.timing as Row)];
  for (const row of others) same(shapeOf(row), shapeOf(first ?? {}));
  same(Object.keys(metadataIn(folder)), [...Object.keys(before).filter((key) => !LATER_KEYS.includes(key)), "edgewise"]);
  said("finished here: their rows to the byte, ours of the same shape");

  await vf(EXAMPLES, ["--resume", folder]).ended;
  same(linesOf(folder), after);
  said("verifiers finds nothing left to do, and changes nothing");
  await edgewise(["-R", folder, "-n", String(GROWN)]);
  checkWhole(folder, GROWN);
  said(`grown here to ${GROWN} examples`);
  return { version, shape: "time_ms" in before ? "flat milliseconds" : "nested seconds" };
}

/** A run of ours, finished there. */
async function ours(version: string): Promise<void> {
  if (values.priced) price();
  const run = place.start([...BASE(), "-n", String(EXAMPLES), "-r", String(ROLLOUTS), "-c", "1", "-o", "own"]);
  await until(() => place.resultsFolders("own").some((found) => linesOf(found).length >= 1), 60_000);
  run.interrupt();
  equal(await run.ended, 130);
  const folder = place.resultsFolders("own")[0] ?? "";
  const kept = rowsIn(folder);
  ok(kept.length < EXAMPLES * ROLLOUTS, "the run was over before it was interrupted");
  // From 0.2 on the library writes behind a row that was cut, and leaves it in the middle of the file.
  const cut = version.startsWith("0.1.");
  if (cut) appendFileSync(join(folder, "results.jsonl"), '{"example_id":5,"prom');
  said(`a run of ours was interrupted with ${kept.length} of ${EXAMPLES * ROLLOUTS} rows${cut ? " and half a one" : ""}`);

  const { code, text } = await vf(EXAMPLES, ["--resume", folder]).ended;
  equal(code, 0, text);
  // Nor does it sort the file.
  checkWhole(folder, EXAMPLES, cut);
  const after = rowsIn(folder);
  for (const row of kept)
    ok(
      after.some((now) => isSame(now, row)),
      "a row of ours was changed",
    );
  said("verifiers finished it: our rows as they were");
  if (values.priced) {
    ok(
      kept.every(({ usage_cost }) => usage_cost !== undefined),
      "a row of ours does not say what it cost",
    );
    equal(after.filter(({ usage_cost }) => usage_cost !== undefined).length, kept.length);
  }
  record(folder, `${version}-finished`);

  await edgewise(["-R", folder]);
  checkWhole(folder, EXAMPLES, cut);
  said("nothing is left to do here");
  await edgewise(["-R", folder, "-n", String(GROWN)]);
  checkWhole(folder, GROWN);
  for (const row of kept)
    ok(
      rowsIn(folder).some((now) => isSame(now, row)),
      "a row of ours was changed",
    );
  said(`grown here to ${GROWN} examples`);
  if (!values.priced) return;
  // 20 tokens at $1,000 and 10 at $2,000 a million; of what verifiers made nobody knows it.
  const own = rowsIn(folder).filter(({ usage_cost }) => usage_cost !== undefined).length;
  const { cost, edgewise: more } = metadataIn(folder) as { readonly cost: Row; readonly edgewise: Row };
  equal(Math.round(Number(cost.total_usd) * 1e9), own * 40_000_000);
  equal(more.unpriced_rollouts, GROWN * ROLLOUTS - own);
  said(`${own} rows of ours cost $${Number(cost.total_usd).toFixed(2)}, and of ${String(more.unpriced_rollouts)} of theirs that is unknown`);
}

function price(): void {
  const folder = join(place.folder, "configs");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "endpoints.toml"), '[[price]]\nmodel = "scripted"\ninput_usd_per_mtok = 1000\noutput_usd_per_mtok = 2000\n');
}

/** Every example with all of its attempts, sorted, each attempt once. */
function checkWhole(folder: string, examples: number, sorted = true): void {
  same(countsIn(folder), Array<number>(examples).fill(ROLLOUTS));
  const ids = rowsIn(folder).map(({ example_id }) => Number(example_id));
  const inOrder = ids.toSorted((a, b) => a - b);
  if (sorted) same(ids, inOrder);
  equal(metadataIn(folder).num_examples, examples);
  const mean = rowsIn(folder).reduce((sum, { reward }) => sum + Number(reward), 0) / (examples * ROLLOUTS);
  ok(Math.abs(Number(metadataIn(folder).avg_reward) - mean) < 1e-9, "avg_reward is not the mean of the rows");
}

function isSame(a: Row, b: Row): boolean {
  try {
    same(a, b);
    return true;
  } catch {
    return false;
  }
}

function BASE(): string[] {
  return ["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-d"];
}

async function edgewise(args: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await place.run([...BASE(), ...args]);
  equal(code, 0, stdout + stderr);
}

/** `vf-eval` in a process group of its own. */
function vf(examples: number, args: readonly string[]): { interrupt(): void; ended: Promise<{ code: number | string; text: string }> } {
  const settings = ["-n", String(examples), "-r", String(ROLLOUTS), "-c", "1", "-s", "-d"];
  const child = spawn(vfEval, ["reverse-text", "-m", "scripted", "-b", model.url, "-k", "ANY_KEY", ...settings, ...args], {
    cwd: python,
    detached: true,
    stdio: ["ignore", "pipe", "pipe"],
    env: { PATH: `${dirname(vfEval)}:${process.env.PATH ?? ""}`, HOME: python, PYTHONPATH: python, ANY_KEY: "none" },
  });
  const group = child.pid ?? 0;
  groups.push(group);
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (piece: string) => (text += piece));
  const ended = new Promise<{ code: number | string; text: string }>((done) =>
    child.once("close", (code, signal) => done({ code: code ?? signal ?? "gone", text })),
  );
  return { interrupt: () => process.kill(-group, "SIGINT"), ended };
}

function endGroup(group: number): void {
  try {
    process.kill(-group, "SIGKILL");
  } catch {
    // It has ended.
  }
}

async function firstFolder(base: string): Promise<string> {
  const found = (): string | undefined => (existsSync(base) ? readdirSync(base)[0] : undefined);
  await until(
    () => found() !== undefined,
    START_MS,
    () => `a folder in ${base}`,
  );
  return join(base, found() ?? "");
}

function record(folder: string, name: string): void {
  if (!values.record) return;
  const target = join(FIXTURES, name);
  mkdirSync(target, { recursive: true });
  for (const file of ["results.jsonl", "metadata.json"]) {
    // The port is another one each time.
    writeFileSync(join(target, file), readFileSync(join(folder, file), "utf8").replaceAll(model.url, "http://127.0.0.1:1/v1"));
  }
}
