import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type CliProcess, until, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import { killPlan, seedOf } from "../../support/cli/kill-plan.ts";
import { clock, isAllAnswered, kill, Losses } from "../../support/cli/local-stack.ts";
import type { Ledger, LedgerEntry } from "../../support/model-server/model-ledger.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";
import { aggregatesOf, type JsonRow, jsonRows, meanReward, readText } from "../../support/results/results-check.ts";

const EXAMPLES = 1000;
const ROLLOUTS = 2;
const CONCURRENT = 16;
/** Units open at once: enough for every request, and one more that fills in while a group runs out (docs/architecture.md). */
const LANES = CONCURRENT / ROLLOUTS + 1;
const LATENCY_MS: [number, number] = [60, 140];
/** Rows wait for two units' time at most (src/executor/session/session.ts), here some 250 ms, and then for the disk of a busy machine. */
const FLUSH_WINDOW_MS = 400;
/** After this long an answer is committed for sure. */
const COMMITTED_MS = 5000;
/** Most requests before a kill, as a rule; and at two kills, before which the folder is looked at. */
const [REQUESTS, MANY_REQUESTS] = [80, 360];

let place: Workplace;
let model: ModelServer;
freshPlaces(
  (fresh) => {
    ({ place, model } = fresh);
  },
  { latency_ms: LATENCY_MS, accuracy: 0.7 },
);

/** What the folder holds, a line that the kill cut included in nothing. */
function wholeRows(folder: string): readonly JsonRow[] {
  const path = join(folder, "results.jsonl");
  if (!existsSync(path)) return [];
  const text = readFileSync(path, "utf8");
  return jsonRows(text.slice(0, text.lastIndexOf("\n") + 1));
}

/** A runtime ends with its command: nobody has to come for it. The moment of its last request. */
async function silence(ledger: Ledger): Promise<number> {
  const isSilent = (): boolean => ledger.stats().in_flight === 0 && clock() - (ledger.stats().last_start_ms ?? 0) > 2000;
  await until(isSilent, 20_000, () => "silence at the model server");
  return ledger.stats().last_end_ms ?? 0;
}

const keyOf = ({ example_id, rollout_index }: JsonRow): string => `${example_id}/${rollout_index}`;

/** Examples that have all their answers, and that no kill can have cost. */
function whollyAnswered(entries: readonly LedgerEntry[], lost: ReadonlyMap<string, number>): readonly number[] {
  const answers = new Map<string, number>();
  for (const { session, outcome } of entries) {
    if (session !== null && outcome === "answered") answers.set(session, (answers.get(session) ?? 0) + 1);
  }
  return [...answers].flatMap(([session, count]) => (count >= ROLLOUTS && !lost.has(session) ? [Number(session)] : []));
}

it("a run killed at 25 moments ends with every row once, and repeats no more than what was open", { timeout: 400_000 }, async () => {
  const plan = killPlan(seedOf("kill-anywhere"), { stack: 20, command: 5, requests: REQUESTS, manyRequests: MANY_REQUESTS });
  const { ledger } = model;
  const create = ["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-n", String(EXAMPLES), "-r", String(ROLLOUTS), "-c", String(CONCURRENT)];
  const begin = (): CliProcess => place.start(place.resultsFolders().length === 0 ? create : ["eval", "run", "reverse-text", "-R", place.results]);

  const losses = new Losses(ledger, { lanes: LANES, flushMs: FLUSH_WINDOW_MS, committedMs: COMMITTED_MS });
  let inFolder: ReadonlySet<string> = new Set();
  let checked = 0;
  let heardSilence = false;
  const isInFolder = (examples: readonly number[]): boolean => {
    const held = new Set(wholeRows(place.results).map(keyOf));
    return examples.every((example) => Array.from({ length: ROLLOUTS }, (_, index) => `${example}/${index}`).every((key) => held.has(key)));
  };
  for (const { what, when } of plan) {
    const cli = begin();
    const before = ledger.stats().total;
    const reached = (): boolean =>
      "msAfterLast" in when ? isAllAnswered(ledger.entries(), EXAMPLES, ROLLOUTS) : "requests" in when && ledger.stats().total >= before + when.requests;
    if (!("ms" in when))
      await until(
        () => reached() || cli.child.exitCode !== null,
        60_000,
        () => `${JSON.stringify(when)} in:\n${cli.stdout()}${cli.stderr()}`,
      );
    await sleep("ms" in when ? when.ms : "msAfterLast" in when ? when.msAfterLast : 0);
    if (!("msAfterLast" in when)) expect(cli.child.exitCode, cli.stderr()).toBe(null);
    const wasWorking = ledger.stats().in_flight > 0;
    let release = (): void => undefined;
    if ("requests" in when && when.requests === MANY_REQUESTS) {
      // All that was answered comes into the folder by itself, with nothing that happens after it.
      release = model.hold();
      const answered = whollyAnswered(ledger.entries(), losses.byExample);
      checked += answered.length;
      await until(
        () => isInFolder(answered),
        30_000,
        () => `the folder to have ${answered.length} examples:\n${cli.stderr()}`,
      );
    }
    const blow = await kill(place, cli, what);
    release();

    const rows = wholeRows(place.results).map(keyOf);
    const held = new Set(rows);
    expect(held.size, "rows in the folder are there once").toBe(rows.length);
    for (const key of inFolder) expect(held, "what the folder held it holds").toContain(key);
    inFolder = held;
    if (what === "command" && wasWorking && !heardSilence) {
      heardSilence = true;
      losses.add({ ...blow, over: Promise.resolve(await silence(ledger)) });
    } else losses.add(blow);
  }

  const last = begin();
  expect(await last.ended, last.stderr()).toBe(0);
  await losses.counted();

  const rows = jsonRows(readText(place.results, "results.jsonl"));
  expect(rows.map(keyOf)).toEqual(Array.from({ length: EXAMPLES * ROLLOUTS }, (_, at) => `${Math.floor(at / ROLLOUTS)}/${at % ROLLOUTS}`));
  expect(rows.filter(({ error }) => error !== null)).toEqual([]);
  const metadata = JSON.parse(readText(place.results, "metadata.json")) as Record<string, unknown>;
  expect(metadata).toMatchObject({
    num_examples: EXAMPLES,
    rollouts_per_example: ROLLOUTS,
    ...aggregatesOf(rows, ROLLOUTS, 0.5),
    edgewise: { status: "COMPLETED" },
  });
  expect(metadata.avg_reward).toBe(meanReward(rows));
  expect(readdirSync(place.results).sort()).toEqual([".edgewise.json", "eval.log", "metadata.json", "results.jsonl"]);
  expect(readdirSync(place.state).filter((name) => name.startsWith("lock"))).toEqual([]);

  const repeated = ledger.stats().total - EXAMPLES * ROLLOUTS;
  console.log(
    `kill-anywhere: ${repeated} repeated calls in ${plan.length} kills, at most ${losses.allowed} allowed; ${checked} examples looked up in folders before kills`,
  );
  expect(repeated).toBeLessThanOrEqual(losses.allowed);
  expect(losses.unexplained(ROLLOUTS)).toEqual([]);
  expect(checked).toBeGreaterThan(0);
  expect(heardSilence).toBe(true);
  expect(ledger.stats().peak_in_flight).toBe(CONCURRENT);
});
