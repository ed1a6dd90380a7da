import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type CliProcess, until, Workplace } from "../../support/cli/cli-process.ts";
import { seedOf } from "../../support/cli/kill-plan.ts";
import { kill } from "../../support/cli/local-stack.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";
import { jsonRows, readText } from "../../support/results/results-check.ts";
import { Random } from "../../simulation/world/random.ts";

/** `EDGEWISE_TEST_KILLS=100` plays the large form: 100 kills in 20 examples × 64 rollouts. */
const KILLS = Number(process.env.EDGEWISE_TEST_KILLS ?? 3);
const [EXAMPLES, ROLLOUTS, CONCURRENT] = KILLS > 10 ? [20, 64, 64] : [4, 6, 16];
const TURNS = 20;
const LATENCY_MS = 50;
/** Of a rollout's time, what may be lost beside the call in flight; ten seconds unless it is set, which no rollout of this test takes. */
const KEEP_MS = 200;
/** Two segments under way, each put and committed on the disk of a busy machine. */
const WRITE_MS = 1_000;

const TALK = `
import { defineEnvironment, MultiTurnEnv, Rubric, z } from "edgewise";
class Talk extends MultiTurnEnv {
  async setupState(state) { state.said = 0; }
  envResponse(_messages, state) { state.said += 1; return "go on " + state.said; }
}
export default defineEnvironment({
  id: "talk", version: "1.0.0", description: "Many turns.", args: z.object({}),
  load: () => new Talk({
    dataset: Array.from({ length: ${EXAMPLES} }, (_, index) => ({ question: "begin " + index })),
    maxTurns: ${TURNS},
    rubric: new Rubric([function turns({ state }) { return state.trajectory.length / ${TURNS}; }]),
  }),
});
`;

let place: Workplace;
let model: ModelServer;
beforeEach(async () => {
  place = new Workplace();
  model = await startModelServer({ latency_ms: [LATENCY_MS, LATENCY_MS] });
  writeFileSync(join(place.folder, "talk.js"), TALK);
});
afterEach(async () => {
  place.remove();
  await model.close();
});

it(`rollouts of ${TURNS} turns that are killed go on from their turns: what is asked again was in flight, or answered since the last write`, {
  timeout: KILLS * 15_000 + 120_000,
}, async () => {
  const random = new Random(seedOf("kill-turns"));
  const { ledger } = model;
  const sizes = ["-n", String(EXAMPLES), "-r", String(ROLLOUTS), "-c", String(CONCURRENT), "-C", "said"];
  const create = ["eval", "run", "./talk.js", "-m", "scripted", "-b", model.url, ...sizes];
  const begin = (): CliProcess =>
    place.start(place.resultsFolders().length === 0 ? create : ["eval", "run", "./talk.js", "-R", place.results], { KEEP_TURNS_MS: String(KEEP_MS) });
  const needed = EXAMPLES * ROLLOUTS * TURNS;
  let allowed = 0;
  let kills = 0;
  for (; kills < KILLS && ledger.stats().total < needed + allowed; kills++) {
    const cli = begin();
    const before = ledger.stats().total;
    // The first life makes no fewer calls than are lost at its end, so that each one goes on.
    const calls = random.int(needed / KILLS / 2, (needed / KILLS) * 1.5);
    await until(
      () => ledger.stats().total >= before + calls || cli.child.exitCode !== null,
      60_000,
      () => `${calls} calls in:\n${cli.stdout()}${cli.stderr()}`,
    );
    if (cli.child.exitCode !== null) break;
    await sleep(random.int(0, 30));
    const blow = await kill(place, cli, "stack");
    const end = await blow.over;
    allowed += ledger
      .entries()
      .filter(({ start_ms, end_ms }) => start_ms <= end && (end_ms === null || end_ms >= blow.at - KEEP_MS - LATENCY_MS - WRITE_MS)).length;
  }
  const last = begin();
  expect(await last.ended, last.stderr()).toBe(0);
  const rows = jsonRows(readText(place.results, "results.jsonl"));
  expect(rows.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`)).toEqual(
    Array.from({ length: EXAMPLES * ROLLOUTS }, (_, at) => `${Math.floor(at / ROLLOUTS)}/${at % ROLLOUTS}`),
  );
  for (const row of rows) expect(row).toMatchObject({ error: null, reward: 1, num_turns: TURNS, said: TURNS - 1, stop_condition: "max_turns_reached" });
  const repeated = ledger.stats().total - needed;
  console.log(`kill-turns: ${repeated} calls of ${needed} were made again in ${kills} kills, at most ${allowed} allowed`);
  expect(kills).toBeGreaterThan(KILLS / 2);
  expect(repeated).toBeLessThanOrEqual(allowed);
  expect(ledger.stats().peak_in_flight).toBeLessThanOrEqual(CONCURRENT);
});

it("rollouts of several turns that SIGTERM and Ctrl-C stop keep every answer that had come, though nothing was written before", {
  timeout: 90_000,
}, async () => {
  await model.close();
  model = await startModelServer({ latency_ms: [6 * LATENCY_MS, 6 * LATENCY_MS] });
  const { ledger } = model;
  const [examples, rollouts] = [2, 4];
  const lanes = examples * rollouts;
  const create = [
    "eval",
    "run",
    "./talk.js",
    "-m",
    "scripted",
    "-b",
    model.url,
    "-n",
    String(examples),
    "-r",
    String(rollouts),
    "-c",
    String(lanes),
    "-C",
    "said",
  ];
  const begin = (): CliProcess => place.start(place.resultsFolders().length === 0 ? create : ["eval", "run", "./talk.js", "-R", place.results]);
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    const cli = begin();
    const before = ledger.stats().total;
    await until(
      () => ledger.stats().total >= before + 4 * lanes,
      30_000,
      () => `calls in:\n${cli.stdout()}${cli.stderr()}`,
    );
    process.kill(cli.pid, signal);
    expect(await cli.ended, cli.stderr()).toBe(130);
  }
  const last = begin();
  expect(await last.ended, last.stderr()).toBe(0);
  const rows = jsonRows(readText(place.results, "results.jsonl"));
  expect(rows.map(({ error, num_turns, said }) => [error, num_turns, said])).toEqual(Array.from({ length: lanes }, () => [null, TURNS, TURNS - 1]));
  // Of each rollout the one call that was under way, at either stop.
  expect(ledger.stats().total - lanes * TURNS).toBeLessThanOrEqual(2 * lanes);
});
