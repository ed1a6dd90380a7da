import { mayWatch } from "../../durable-objects/run/stopping/may-watch.ts";
import type { PreparedRequest } from "../../durable-objects/run/protocol.ts";
import type { RunHead } from "../../durable-objects/run/state/head.ts";
import type { BaselineScore } from "../../durable-objects/run/stopping/stopping-store.ts";
import { parseStopRule } from "../../src/config/options/stop-rule.ts";
import { exampleScore } from "../../src/metrics/sequential/example-score.ts";
import type { ExampleScore } from "../../src/metrics/sequential/envelope-bounds.ts";
import { type Decision, StopWatch } from "../../src/metrics/sequential/stop-watch.ts";
import type { MemoryLedger } from "../support/run/memory-ledger.ts";
import { broken } from "./invariants.ts";
import { isSlow, type Plan } from "./world/plan.ts";
import type { Random } from "./world/random.ts";

/** Of one seed in so many the runs have a rule to stop by; no mutation begins at one, so that schedules which find them stay what they were. */
const SEEDS = 10;
export const isRuled = (seed: number): boolean => seed % SEEDS === 3;

/** Rewards of the simulator are 0 to 2. */
const RANGE = [0, 2] as const;

/** The plan with a rule to stop by, and as many examples as that takes. */
export function withRule(plan: Plan, random: Random): Plan {
  const { config } = plan;
  const rule = random.pick(["halfwidth<0.9", "halfwidth<0.6", "mean<1.7", "mean>0.4", "vs 0000beef"]);
  const most = isSlow(plan) || config.rollouts_per_example > 3 ? 12 : 60;
  return {
    ...plan,
    config: {
      ...config,
      num_examples: Math.max(config.num_examples, random.int(1, most)),
      order_seed: config.order_seed ?? 1,
      stop_when: rule,
      stop_alpha: random.pick([0.05, 0.2]),
      ...(rule.startsWith("vs") ? { stop_baseline: { run_id: "0000beef", env_id: "e", model: "m", dataset_digest: null } } : {}),
    },
    rule: { drops: random.pick([0, 0, 0.3]), range: random.chance(0.1) ? [0, 1] : RANGE },
  };
}

const baselineOf = (unit: number): BaselineScore => (unit % 7 === 3 ? [1.5, 2] : 1.6 + (unit % 4) / 10);

/** What a preparation of the examples `[lo, hi)` tells for the rule. */
export function toldForRule({ rule, config }: Plan, lo: number, hi: number): Pick<PreparedRequest, "reward_range" | "baseline"> {
  if (rule === undefined) return {};
  const scores = Array.from({ length: hi - lo }, (_, at) => baselineOf(lo + at));
  return { reward_range: rule.range, ...(config.stop_baseline === undefined ? {} : { baseline: { scores, pairs: false } }) };
}

/** What was found in which scores: looked for anew only where they are others. */
const known = new WeakMap<MemoryLedger, { readonly of: string; readonly found: Decision | null }>();

/** After every transaction: the run has stopped where its rule is met by the done examples from the first on without a gap, and nowhere else. */
export function checkStopping(ledger: MemoryLedger, head: RunHead): void {
  const { stop_when, stop_alpha } = ledger.config();
  const { stopped } = head;
  if (stop_when === undefined) {
    if (stopped !== undefined) broken("the run has stopped by a rule that it does not have");
    return;
  }
  const found = foundIn(ledger, head, { stop_when, stop_alpha });
  if (stopped !== undefined) {
    const { rule, alpha, of, ...decision } = stopped;
    if (rule !== stop_when || alpha !== stop_alpha || of !== head.n) broken("the run says of another rule that it has stopped by it");
    if (JSON.stringify(decision) !== JSON.stringify(found))
      broken(`the run has stopped by ${JSON.stringify(decision)}, its examples say ${JSON.stringify(found)}`);
    return;
  }
  if (found !== null && mayWatch(head) && head.unwatched !== true) broken(`the run goes on, its examples say ${JSON.stringify(found)}`);
}

function foundIn(
  ledger: MemoryLedger,
  head: RunHead,
  { stop_when, stop_alpha = 0.05 }: { stop_when: string; stop_alpha: number | undefined },
): Decision | null {
  const n = head.n ?? 0;
  const range = head.reward_range ?? [0, 1];
  const scores: ExampleScore[] = [];
  for (let unit = 0; unit < n; unit++) {
    const done = ledger.done(unit);
    if (done === null || done.owed) break;
    const rewards = done.rollouts.map((rollout) => (rollout === null || rollout.error !== null ? null : rollout.reward));
    scores.push(exampleScore(rewards, range));
  }
  if (scores.length === 0) return null;
  const of = JSON.stringify([stop_when, stop_alpha, n, range, scores]);
  const before = known.get(ledger);
  if (before?.of === of) return before.found;
  const rule = parseStopRule(stop_when);
  const watch = new StopWatch({ rule, alpha: stop_alpha, range, population: n });
  const look = (): Decision | null => {
    for (const [unit, score] of scores.entries()) {
      watch.add(score, rule.kind === "versus" ? baselineOf(unit) : undefined);
      const decision = watch.decision();
      if (decision !== null && decision.examples < n) return decision;
    }
    return null;
  };
  let found: Decision | null = null;
  try {
    found = look();
  } catch (thrown) {
    // A reward outside of the range: the rule looks no more.
    if (!(thrown instanceof RangeError)) throw thrown;
  }
  known.set(ledger, { of, found });
  return found;
}
