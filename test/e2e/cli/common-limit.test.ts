import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLock } from "../../../src/cli/state/state-lock.ts";
import { until } from "../../support/cli/cli-process.ts";
import { Served, type ServedRun } from "../../support/cli/served.ts";
import { type Bench, inPlace } from "../../support/cli/in-place.ts";

const THREE = { EDGEWISE_EXECUTORS: "3" };
const NAMES = ["a", "b", "c", "d", "e"];

/** Asks for words that begin with the name of its evaluation. */
const WORDS = `
import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({
  id: "words", version: "1.0.0", description: "Words.",
  args: z.object({ name: z.string() }),
  load: ({ name }) => new SingleTurnEnv({
    dataset: async function* () { for (let i = 0; i < 100; i++) yield { question: name + " " + i }; },
    rubric: new Rubric([function one() { return 1; }]),
  }),
});
`;

/** Evaluations with these settings each. */
function evaluations(bench: Bench, total: number, settings: readonly string[]): string[] {
  const folder = join(bench.place.folder, "environments", "words");
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "words.ts"), WORDS);
  const top = `model = "scripted"\napi_base_url = "${bench.model.url}"\nmax_concurrent_total = ${total}\nrollouts_per_example = 2\n`;
  const evals = settings.map((text, at) => `[[eval]]\nenv_id = "words"\nenv_args = { name = "${NAMES[at]}" }\n${text}\n`);
  writeFileSync(join(bench.place.folder, "evals.toml"), `${top}${evals.join("")}`);
  return ["eval", "run", "evals.toml", "--no-preflight"];
}

/** Runs a command of which nothing is answered before so many requests are in flight, however slow the machine; gives its output. */
async function fullThenFree({ place, model }: Bench, command: readonly string[], requests: number): Promise<string> {
  const release = model.hold();
  const cli = place.start(command, THREE);
  await until(
    () => model.ledger.stats().in_flight === requests,
    30_000,
    () => `${requests} requests in flight:\n${cli.stderr()}`,
  );
  release();
  expect(await cli.ended, cli.stderr()).toBe(0);
  return cli.stdout();
}

/** Requests of one of them. */
const asked = (bench: Bench, name: string) => bench.model.ledger.entries().filter(({ prompt }) => prompt.startsWith(`${name} `));
const lastEnd = (bench: Bench, name: string): number => Math.max(...asked(bench, name).map(({ end_ms }) => end_ms ?? Number.NaN));

/** The most requests at once after a moment. */
function peakSince(bench: Bench, since: number): number {
  const entries = bench.model.ledger.entries().map(({ start_ms, end_ms }) => [start_ms, end_ms ?? Number.POSITIVE_INFINITY] as const);
  const moments = entries.map(([start]) => start).filter((start) => start > since);
  return Math.max(0, ...moments.map((at) => entries.filter(([start, end]) => start <= at && end > at).length));
}

describe.concurrent("max_concurrent_total is the number of requests in flight of all evaluations of a command", () => {
  it(
    "over several executors, each within its own -c: never more, and as many where there is work",
    { timeout: 90_000 },
    inPlace({ latency_ms: [30, 50] }, async (bench) => {
      const command = evaluations(bench, 5, ["num_examples = 20", "num_examples = 20", "num_examples = 20\nmax_concurrent = 1"]);
      const stdout = await fullThenFree(bench, command, 5);
      expect(stdout.match(/COMPLETED/g)).toHaveLength(3);
      expect(bench.model.ledger.stats()).toMatchObject({ peak_in_flight: 5, total: 120 });
      // What waits says for what, and each log says it once.
      const common = "5 requests at once that the evaluations of its command have together";
      const logs = bench.place.resultsFolders("environments/words/outputs").map((folder) => readFileSync(join(folder, "eval.log"), "utf8"));
      expect(logs).toHaveLength(3);
      for (const log of logs) expect(log.split(`Waiting for the ${common}`).length).toBeLessThanOrEqual(2);
      expect(logs.join("\n")).toContain(` - INFO - Waiting for the ${common}: requests begin as that allows`);
    }),
  );

  it(
    "where there are more evaluations than places: all begin, and take turns",
    { timeout: 90_000 },
    inPlace({ latency_ms: [30, 50] }, async (bench) => {
      const command = evaluations(
        bench,
        2,
        NAMES.map(() => "num_examples = 40"),
      );
      await fullThenFree(bench, command, 2);
      expect(bench.model.ledger.stats()).toMatchObject({ peak_in_flight: 2, total: 400 });
      const firstEnd = Math.min(...NAMES.map((name) => lastEnd(bench, name)));
      for (const name of NAMES) expect(asked(bench, name)[0]?.start_ms, name).toBeLessThan(firstEnd);
    }),
  );

  it(
    "and what one leaves free goes to those at work",
    { timeout: 90_000 },
    inPlace({ latency_ms: [80, 120] }, async (bench) => {
      const { code, stderr } = await bench.place.run(evaluations(bench, 4, ["num_examples = 4", "num_examples = 60"]), THREE);
      expect(code, stderr).toBe(0);
      expect(bench.model.ledger.stats()).toMatchObject({ peak_in_flight: 4, total: 128 });
      expect(asked(bench, "a")).toHaveLength(8);
      expect(peakSince(bench, lastEnd(bench, "a"))).toBe(4);
    }),
  );

  it(
    "over HTTP and with --hosted, where nobody stays to begin them",
    { timeout: 90_000 },
    inPlace({ latency_ms: [30, 50] }, async (bench) => {
      const served = new Served(bench.place);
      await served.start(null, THREE);
      const settled = async (): Promise<readonly ServedRun[]> => {
        const { evaluations } = (await (await served.ask("/evaluations")).json()) as { evaluations: readonly ServedRun[] };
        return evaluations.filter(({ edgewise }) => edgewise.settled);
      };
      const one = { env_id: "reverse-text", num_examples: 15 };
      const top = { model: "scripted", api_base_url: bench.model.url, rollouts_per_example: 2, max_concurrent_total: 3 };
      await served.ask("/evaluation-configs", { ...top, eval: [one, one, one, one] });
      await until(async () => (await settled()).length === 4, 60_000);
      expect(bench.model.ledger.stats()).toMatchObject({ peak_in_flight: 3, total: 120 });

      const toml = Object.entries(top).map(([key, value]) => `${key} = ${JSON.stringify(value)}\n`);
      const evals = '[[eval]]\nenv_id = "reverse-text"\nnum_examples = 15\n'.repeat(4);
      writeFileSync(join(bench.place.folder, "hosted.toml"), `${toml.join("")}${evals}`);
      const { code, stderr } = await bench.place.run(["eval", "run", "hosted.toml", "--hosted"], { EDGEWISE_URL: served.url });
      expect(code, stderr).toBe(0);
      await until(async () => (await settled()).length === 8, 60_000);
      expect(bench.model.ledger.stats()).toMatchObject({ peak_in_flight: 3, total: 240 });
      await served.end("SIGTERM");
    }),
  );

  it(
    "where the runtime dies under them, and another one takes its place",
    { timeout: 90_000 },
    inPlace({ latency_ms: [60, 100] }, async (bench) => {
      const cli = bench.place.start(evaluations(bench, 4, ["num_examples = 25", "num_examples = 25", "num_examples = 25"]), THREE);
      await until(() => bench.model.ledger.stats().total >= 40, 30_000);
      process.kill(readLock(bench.place.state)?.workerd_pid ?? 0, "SIGKILL");
      expect(await cli.ended, cli.stderr()).toBe(0);
      const { peak_in_flight, outcomes } = bench.model.ledger.stats();
      expect(peak_in_flight).toBe(4);
      expect(outcomes.answered).toBeGreaterThanOrEqual(150);
    }),
  );
});
