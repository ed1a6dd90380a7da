import { evictDurableObject, reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Grant, PROTOCOL } from "../../../durable-objects/run/protocol.ts";
import type { BaselineScore, BaselineScores } from "../../../durable-objects/run/stopping/stopping-store.ts";
import { parseStopRule } from "../../../src/config/options/stop-rule.ts";
import { bootOf } from "../../../src/env.ts";
import { StopWatch } from "../../../src/metrics/sequential/stop-watch.ts";
import type { StoppedEarly } from "../../../src/metrics/sequential/stopped-early.ts";
import { summary } from "../../support/run/rule-run.ts";
import { createRun, viewOf } from "../support/runs.ts";
import { rawRun, restoreClock, run, service, setVars, silenceQueue, STEADY } from "../support/service.ts";

const ALL = 200;

beforeEach(() => {
  setVars(STEADY);
  silenceQueue();
});
afterEach(async () => {
  restoreClock();
  await reset();
});

interface Case {
  readonly rule: string;
  readonly alpha?: number;
  /** Of an example, by its unit; null: it ended in an error. */
  readonly score: (unit: number) => number | null;
  readonly baseline?: BaselineScores;
}

const everyUnit = <T>(of: (unit: number) => T): T[] => Array.from({ length: ALL }, (_, unit) => of(unit));
/** Some thirds, which no sum of them is exact in; one in eleven ended in an error. */
const graded = (unit: number): number | null => (unit % 11 === 5 ? null : ((unit * 7) % 10) / 30);
const CASES: Readonly<Record<string, Case>> = {
  "below a bound, with errors": { rule: "mean<0.5", score: graded },
  "narrow enough, at another alpha": { rule: "halfwidth<0.15", alpha: 0.1, score: (unit) => ((unit * 7) % 10 < 2 ? 1 : 0) },
  "pairs with a baseline, with errors": {
    rule: "vs 0000beef",
    score: (unit) => (unit % 11 === 5 ? null : unit % 4 === 0 ? 1 : 0),
    baseline: { scores: everyUnit((unit) => (unit % 5 === 1 ? 0 : 1)), pairs: true },
  },
  "a graded baseline, with errors of its own": {
    rule: "vs 0000beef",
    score: graded,
    baseline: { scores: everyUnit((unit): BaselineScore => (unit % 13 === 7 ? [0.4, 1] : 0.6 + (unit % 9) / 30)), pairs: false },
  },
};

/** What the rule finds in all of it at once; null: nothing. */
function found({ rule, alpha = 0.05, score, baseline }: Case): object | null {
  const watch = new StopWatch({ rule: parseStopRule(rule), alpha, population: ALL, pairsOfZeroAndOne: baseline?.pairs === true });
  for (let unit = 0; unit < ALL; unit++) {
    watch.add(score(unit) ?? [0, 1], baseline?.scores[unit]);
    const decision = watch.decision();
    if (decision !== null) return decision;
  }
  return null;
}

/** Plays such a run by hand, an example a commit, until it stops; `between`: after each commit, with the id of the run. */
async function decision(
  { rule, alpha = 0.05, score, baseline }: Case,
  between: (runId: string, unit: number) => Promise<void>,
): Promise<StoppedEarly | undefined> {
  const against = { run_id: "0000beef", env_id: "e", model: "m", dataset_digest: null };
  const config = await createRun({
    num_examples: ALL,
    max_concurrent: ALL,
    stop_when: rule,
    stop_alpha: alpha,
    ...(baseline === undefined ? {} : { stop_baseline: against }),
  });
  const stub = () => run(config.run_id);
  const join = async (seq: number): Promise<Grant> => {
    const joined = await stub().join({ protocol: PROTOCOL, executor: `e${seq}`, seq: 1, free: ALL, boot: bootOf(service), checks_code: true });
    if (joined.kind !== "grant") throw new Error(`no grant: ${joined.kind}`);
    return joined;
  };
  const id = ({ ticket, epoch }: Grant) => ({ protocol: PROTOCOL, ticket, epoch }) as const;
  const preparing = await join(1);
  if (preparing.task.kind !== "prepare") throw new Error(`nothing to prepare: ${preparing.task.kind}`);
  const pinned = {
    attempt: preparing.task.attempt,
    chunks: [{ lo: 0, hi: ALL, digest: "d".repeat(64), bytes: ALL }],
    count: ALL,
    digest: "d",
    env_digest: preparing.env_digest ?? "e",
    pass_threshold: 0.5,
    env_sampling_args: {},
    ...(baseline === undefined ? {} : { baseline }),
  };
  expect(await stub().prepared({ ...id(preparing), ...pinned })).toEqual({ kind: "ok" });
  const grant = await join(2);
  let [seq, hi] = [0, 0];
  for (let unit = 0; unit < ALL; unit++) {
    if (unit === hi) {
      const claimed = await stub().claim({ ...id(grant), seq: ++seq, free: ALL, soon: 0, open: 0, started: [] });
      if (claimed.kind !== "block") break;
      expect(claimed.lo).toBe(unit);
      hi = claimed.hi;
    }
    const reward = score(unit);
    const rollouts = [reward === null ? summary({ reward: 0, error: "timeout" }) : summary({ reward })];
    const units = JSON.stringify([{ unit, offset: 0, length: 10, rollouts }]);
    const answer = await stub().commit({ ...id(grant), segment: `${grant.ticket}-${grant.epoch}-${unit + 1}`, units });
    expect(answer.kind).toBe("committed");
    if (answer.kind === "committed" && answer.orders === "drain") break;
    await between(config.run_id, unit);
  }
  return (await viewOf(config.run_id)).stopped_early;
}

it.each(Object.keys(CASES))("decides the same though the Run is evicted between commits: %s", async (name) => {
  const each = CASES[name];
  if (each === undefined) throw new Error(name);
  const steady = await decision(each, async () => undefined);
  const evicted = await decision(each, async (runId, unit) => {
    if (unit % 3 !== 1) await evictDurableObject(rawRun(runId));
  });
  expect(steady).toMatchObject({ ...found(each), rule: each.rule, of: ALL });
  expect(evicted).toEqual(steady);
  expect(evicted?.examples).toBeLessThan(ALL);
});
