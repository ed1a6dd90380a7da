import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { KEEP_AGE_MS } from "../../../src/limits.ts";
import { until, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import { clock, kill } from "../../support/cli/local-stack.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";
import { jsonRows, readText } from "../../support/results/results-check.ts";

const EXAMPLES = 2;
const ROLLOUTS = 64;
const CONCURRENT = 8;
const KILLS = 3;
/** An answer is kept so long after it came: its age, and the put and the commit on the disk of a busy machine. */
const KEPT_MS = KEEP_AGE_MS + 1_000;

let place: Workplace;
let model: ModelServer;
freshPlaces(
  (fresh) => {
    ({ place, model } = fresh);
  },
  { latency_ms: [600, 1_000], accuracy: 0.7 },
);

const flags = (): string[] => ["-m", "scripted", "-b", model.url, "-n", String(EXAMPLES), "-r", String(ROLLOUTS), "-c", String(CONCURRENT)];
const begin = () => place.start(["eval", "run", "reverse-text", ...(place.resultsFolders().length === 0 ? flags() : ["-R", place.results])]);

function expectRows(): void {
  const rows = jsonRows(readText(place.results, "results.jsonl"));
  expect(rows.map(({ example_id, rollout_index }) => [example_id, rollout_index])).toEqual(
    Array.from({ length: EXAMPLES * ROLLOUTS }, (_, at) => [Math.floor(at / ROLLOUTS), at % ROLLOUTS]),
  );
  expect(rows.filter(({ error }) => error !== null)).toEqual([]);
}

it("a run of 64 rollouts an example that is killed in the middle of its examples repeats what was not kept yet, and no more", {
  timeout: 120_000,
}, async () => {
  const { ledger } = model;
  let allowed = 0;
  for (let blow = 0; blow < KILLS; blow++) {
    const cli = begin();
    const before = ledger.stats().total;
    await until(
      () => ledger.stats().total >= before + CONCURRENT,
      30_000,
      () => `requests in:\n${cli.stdout()}${cli.stderr()}`,
    );
    // Long enough that something is kept, and short of an example.
    await sleep(2 * KEEP_AGE_MS + 500);
    const { at, over } = await kill(place, cli, "stack");
    const end = await over;
    allowed += ledger.entries().filter(({ start_ms, end_ms }) => start_ms <= end && (end_ms === null || end_ms > at - KEPT_MS)).length;
  }
  const last = begin();
  expect(await last.ended, last.stderr()).toBe(0);
  expectRows();
  const repeated = ledger.stats().total - EXAMPLES * ROLLOUTS;
  console.log(`kept-rollouts: ${repeated} repeated calls in ${KILLS} kills, at most ${allowed} allowed`);
  expect(repeated).toBeLessThanOrEqual(allowed);
  expect(ledger.stats().peak_in_flight).toBeLessThanOrEqual(CONCURRENT);
});

it("Ctrl-C in the middle of an example keeps every answer that had come", { timeout: 60_000 }, async () => {
  const { ledger } = model;
  const cli = begin();
  await until(
    () => ledger.stats().total >= 3 * CONCURRENT,
    30_000,
    () => `requests in:\n${cli.stdout()}${cli.stderr()}`,
  );
  const pressed = clock();
  process.kill(cli.pid, "SIGINT");
  expect(await cli.ended, cli.stderr()).toBe(130);
  const cut = ledger.entries().filter(({ end_ms, outcome }) => outcome !== "answered" || (end_ms ?? 0) > pressed).length;
  const last = begin();
  expect(await last.ended, last.stderr()).toBe(0);
  expectRows();
  expect(ledger.stats().total - EXAMPLES * ROLLOUTS).toBeLessThanOrEqual(cut);
});
