import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RunConfig } from "../../../../src/config/plan/run-config.ts";
import { metadataOf } from "../../../../durable-objects/run/reading/run-metadata.ts";
import { viewOf } from "../../../../durable-objects/run/reading/view.ts";
import { exampleScore } from "../../../../src/metrics/sequential/example-score.ts";
import { parseStopRule } from "../../../../src/config/options/stop-rule.ts";
import { type Decision, StopWatch } from "../../../../src/metrics/sequential/stop-watch.ts";
import type { RolloutSummary } from "../../../../src/metrics/rollout-summary.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const IDLE = { in_flight: 0, retries: 0, waiting: 0, paused_until: null };
const lost = summary({ error: "timeout", reward: 0 });

/** Passes two in ten, in an order that has nothing to do with their numbers. */
const scoreOf = (unit: number): number => ((unit * 7) % 10 < 2 ? 1 : 0);
const scored = (unit: number): readonly RolloutSummary[] => [summary({ reward: scoreOf(unit) })];

function ruled(n: number, rule: string, changes: Partial<RunConfig> = {}, pinned: Parameters<RuleRun["pin"]>[1] = {}): RuleRun {
  const run = new RuleRun({ num_examples: n, stop_when: rule, stop_alpha: 0.05, max_concurrent: 64, ...changes });
  run.pin(n, pinned);
  return run;
}

const view = (run: RuleRun) => viewOf(run.ledger, run.head, IDLE, run.context);
const log = (run: RuleRun): string => run.ledger.events.map(({ message }) => message).join("\n");

/** What the rule finds in these examples, one after the other; null: nothing. */
function found(rule: string, population: number, all: readonly (readonly RolloutSummary[])[]): Decision | null {
  const watch = new StopWatch({ rule: parseStopRule(rule), alpha: 0.05, population });
  for (const rollouts of all) {
    watch.add(
      exampleScore(
        rollouts.map(({ error, reward }) => (error === null ? reward : null)),
        [0, 1],
      ),
    );
    const decision = watch.decision();
    if (decision !== null) return decision;
  }
  return null;
}

describe("a run with a rule to stop by", () => {
  it("is COMPLETED when its rule is met: nothing more is handed out, what is open is finished and counts, and its numbers are those of the decision", () => {
    const run = ruled(400, "mean<0.5");
    const grant = run.grant("a", 64);
    const block = run.block(grant, 1, { free: 64 });
    let last = block.lo;
    while (run.head.stopped === undefined) {
      run.commit(grant, [last], scored(last));
      last++;
    }
    const { stopped } = run.head;
    expect(stopped).toMatchObject({ rule: "mean<0.5", alpha: 0.05, finding: "below", examples: last, of: 400 });
    expect(stopped).toMatchObject(
      found(
        "mean<0.5",
        400,
        Array.from({ length: 400 }, (_, unit) => scored(unit)),
      ) ?? {},
    );
    expect(stopped?.interval[1]).toBeLessThan(0.5);
    expect(run.head).toMatchObject({ status: "COMPLETED", phase: "draining", drain: "drain" });
    expect(run.beat(grant)).toBe("drain");
    expect(run.claim(grant, 2, { free: 64 }).kind).toBe("closed");
    expect(run.join("b").kind).toBe("closed");
    expect(run.commit(grant, [last], scored(last))).toEqual(["accepted"]);
    expect(view(run).units).toMatchObject({ total: block.hi, done: last + 1, pending: 0 });
    run.leave(grant);
    run.settle();
    expect(run.head.stopped).toEqual(stopped);
    expect(view(run)).toMatchObject({ status: "COMPLETED", phase: "settled", units: { total: last + 1, done: last + 1, open: 0, pending: 0 } });
    expect(view(run).stopped_early).toEqual({ ...stopped, saved: 400 - (last + 1) });
    expect(log(run)).toMatch(/Stopped early after \d+ of 400 examples by mean<0\.5: the mean is below \(mean 0\.\d{3} to 0\.4\d{2}, 95 % at any time\)/);
  });

  it("says in its metadata how many examples were evaluated, with the interval that holds at any time", async () => {
    const run = ruled(400, "halfwidth<0.15");
    run.work(scored);
    run.settle();
    const metadata = await metadataOf(run.ledger, async () => true);
    expect(metadata?.num_examples).toBe(run.head.done);
    expect(metadata?.num_examples).toBeLessThan(200);
    expect(metadata?.edgewise.stopped_early).toEqual({ ...run.head.stopped, saved: 400 - run.head.done });
    expect(metadata?.edgewise.reward_ci95).toEqual(run.head.stopped?.interval);
    expect(metadata?.edgewise.settings).toMatchObject({ stop_when: "halfwidth<0.15", stop_alpha: 0.05 });
  });

  it("states no interval of a metric or of pass@k in its metadata, which would be that of a run of fixed size", async () => {
    const statedBy = async (rule: string) => {
      const run = ruled(200, rule, { rollouts_per_example: 2 });
      run.work((unit) => [scored(unit), scored(unit + 1)].flat());
      run.settle();
      const metadata = await metadataOf(run.ledger, async () => true);
      expect(metadata?.avg_metrics).toHaveProperty("similarity");
      expect(metadata?.pass_at_k).toHaveProperty("1");
      expect(metadata?.edgewise.stopped_early === undefined).toBe(run.head.stopped === undefined);
      return ["metric_estimates", "pass_at_k_ci95", "pass_all_k_ci95"].filter((field) => field in (metadata?.edgewise ?? {}));
    };
    expect(await statedBy("mean<0.1")).toEqual(["metric_estimates", "pass_at_k_ci95", "pass_all_k_ci95"]);
    expect(await statedBy("mean<0.5")).toEqual([]);
  });

  it("decides the same whatever was committed first, twice, or late", () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1_000), { minLength: 100, maxLength: 100 }), fc.integer({ min: 0, max: 99 }), (ranks, again) => {
        const run = ruled(100, "mean<0.45");
        const grant = run.grant("a", 64);
        const units: number[] = [];
        for (let seq = 1; ; seq++) {
          const answer = run.claim(grant, seq, { free: 64 });
          if (answer.kind !== "block") break;
          for (let unit = answer.lo; unit < answer.hi; unit++) units.push(unit);
        }
        units.sort((a, b) => (ranks[a] ?? 0) - (ranks[b] ?? 0));
        // The first is the last to come; then all that was done before is looked at together.
        for (const unit of units.filter((each) => each !== 0)) {
          run.commit(grant, [unit], scored(unit), `1-1-${unit + 1}`);
          if (unit === again) run.commit(grant, [unit], [summary({ reward: 1 })], `1-1-${unit + 1}`);
          expect(run.head.stopped).toBeUndefined();
          if (run.head.done === 90) break;
        }
        run.commit(grant, [0], scored(0));
        const prefix = Array.from({ length: 100 }, (_, unit) => unit).findIndex((unit) => run.ledger.done(unit) === null);
        const expected = found(
          "mean<0.45",
          100,
          Array.from({ length: prefix < 0 ? 100 : prefix }, (_, unit) => scored(unit)),
        );
        if (expected === null) expect(run.head.stopped).toBeUndefined();
        else expect(run.head.stopped).toMatchObject(expected);
      }),
      { numRuns: 30 },
    );
  });

  it("looks through many done units in turns, at once after each other", () => {
    const run = ruled(60, "mean<0.55");
    run.slice = 4;
    const grant = run.grant("a", 64);
    const { hi } = run.block(grant, 1, { free: 59 });
    for (let unit = 1; unit < hi - 1; unit++) run.commit(grant, [unit], scored(unit));
    run.commit(grant, [0], scored(0));
    expect(run.head.stopped).toBeUndefined();
    for (let turn = 0; turn < 20 && run.head.stopped === undefined; turn++) {
      expect(run.wake).toBeLessThanOrEqual(run.now);
      run.call("wake", null);
    }
    expect(run.head.stopped).toMatchObject(
      found(
        "mean<0.55",
        60,
        Array.from({ length: 60 }, (_, unit) => scored(unit)),
      ) ?? { finding: "none" },
    );
  });

  it("takes an example that ended in an error for the least and the most that it can be", () => {
    const rows = (unit: number): readonly RolloutSummary[] =>
      unit % 8 === 3 ? [lost, summary({ reward: scoreOf(unit) })] : [scored(unit), scored(unit)].flat();
    const all = Array.from({ length: 300 }, (_, unit) => rows(unit));
    const run = ruled(300, "mean<0.6", { rollouts_per_example: 2 });
    run.work(rows);
    expect(run.head.stopped).toMatchObject(found("mean<0.6", 300, all) ?? { finding: "none" });
    const without = found(
      "mean<0.6",
      300,
      all.map((each, unit) => (unit % 8 === 3 ? scored(unit) : each)),
    );
    expect(run.head.stopped?.examples).toBeGreaterThan(without?.examples ?? 300);
  });

  it("plays all of its examples where nothing is known, and where the rule is never met", () => {
    const run = ruled(60, "halfwidth<0.3");
    run.work((unit) => [unit % 3 > 0 ? lost : summary({ reward: scoreOf(unit) })]);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 60 });
    expect(run.head.stopped).toBeUndefined();
    const other = ruled(60, "mean<0.1");
    other.work(scored);
    expect(other.head).toMatchObject({ status: "COMPLETED", done: 60 });
    expect(other.head.stopped).toBeUndefined();
    expect(view(other).stopped_early).toBeUndefined();
  });

  it("looks no more once a reward is outside its range, says so, and plays on", () => {
    const run = ruled(60, "halfwidth<0.3");
    run.work((unit) => [summary({ reward: unit === 1 ? 3 : scoreOf(unit) })]);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 60 });
    expect(run.head.stopped).toBeUndefined();
    expect(log(run).match(/looks no more: example 1: a score of 3 is outside 0 to 1/g)).toHaveLength(1);
  });

  it("waits until all examples are pinned", () => {
    const run = new RuleRun({ num_examples: 400, stop_when: "mean<0.5", stop_alpha: 0.05, max_concurrent: 64 });
    const preparing = run.pin(200, { more: true });
    const grant = run.grant("a", 64);
    const { hi } = run.block(grant, 1, { free: 64 });
    for (let unit = 0; unit < hi; unit++) run.commit(grant, [unit], scored(unit));
    expect(run.head.stopped).toBeUndefined();
    run.pin(400, { grant: preparing, from: 200 });
    expect(run.head.stopped).toMatchObject(
      found(
        "mean<0.5",
        400,
        Array.from({ length: 400 }, (_, unit) => scored(unit)),
      ) ?? {},
    );
  });
});

describe("a run that is held against a baseline", () => {
  const baseline = { run_id: "0000beef", env_id: "e", model: "m", dataset_digest: null };

  it("stops when it is plainly worse, example by example", () => {
    const scores = Array.from({ length: 400 }, () => 1);
    const run = ruled(400, "vs 0000beef", { stop_baseline: baseline }, { baseline: { scores, pairs: true } });
    run.work(scored);
    expect(run.head.stopped).toMatchObject({ finding: "worse", of: 400 });
    expect(run.head.stopped?.examples).toBeLessThan(30);
    expect(run.head.stopped?.p).toBeLessThanOrEqual(0.05);
    expect(run.head.stopped?.interval[0]).toBeLessThan(-0.3);
    expect(run.head.stopped?.reward_ci95[1]).toBeLessThan(1);
    const graded = ruled(400, "vs 0000beef", { stop_baseline: baseline }, { baseline: { scores: scores.map(() => 0.9), pairs: false } });
    graded.work(scored);
    expect(graded.head.stopped).toMatchObject({ finding: "worse" });
    expect(graded.head.stopped?.interval[1]).toBeLessThan(0);
    expect(graded.head.stopped).not.toHaveProperty("p");
  });

  it("says nothing of one that does as well, nor where the baseline has no score", () => {
    const equal = ruled(
      200,
      "vs 0000beef",
      { stop_baseline: baseline },
      { baseline: { scores: Array.from({ length: 200 }, (_, unit) => scoreOf(unit)), pairs: true } },
    );
    equal.work(scored);
    expect(equal.head).toMatchObject({ status: "COMPLETED", done: 200 });
    const unknown = ruled(
      200,
      "vs 0000beef",
      { stop_baseline: baseline },
      { baseline: { scores: Array.from({ length: 200 }, () => [0, 1] as const), pairs: true } },
    );
    unknown.work(scored);
    expect(unknown.head).toMatchObject({ status: "COMPLETED", done: 200 });
    const lacking = ruled(200, "vs 0000beef", { stop_baseline: baseline });
    lacking.work(scored);
    expect(lacking.head).toMatchObject({ status: "COMPLETED", done: 200 });
    expect(log(lacking)).toContain("looks no more: example 0: the baseline has no score for this example");
  });
});

describe("a resume of a run with a rule to stop by", () => {
  function stoppedRun(): RuleRun {
    const run = ruled(400, "mean<0.5");
    run.work(scored);
    run.settle();
    return run;
  }

  it("says that it stopped early and how to go on, and owes nothing", () => {
    const run = stoppedRun();
    const before = run.head;
    expect(run.resume()).toMatchObject({
      ok: true,
      value: { owed_rollouts: 0, warnings: [expect.stringMatching(/^Stopped early after .* resume it with --stop-when never$/)] },
    });
    expect(run.head).toEqual(before);
  });

  it("goes on without the rule where that is asked for, with the numbers of the whole run", async () => {
    const run = stoppedRun();
    const { done } = run.head;
    expect(run.resume({ stop_when: "never" })).toMatchObject({ ok: true, value: { owed_rollouts: 400 - done } });
    expect(run.ledger.config()).not.toHaveProperty("stop_when");
    run.work(scored);
    run.settle();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 400 });
    const metadata = await metadataOf(run.ledger, async () => true);
    expect(metadata?.num_examples).toBe(400);
    expect(metadata?.edgewise).not.toHaveProperty("stopped_early");
    expect(log(run)).toContain("The rule to stop by (mean<0.5) is dropped");
  });

  it("refuses another rule, a rule for a run that has none, and more examples than were drawn", () => {
    const run = stoppedRun();
    const refused = (answer: unknown, text: RegExp): void => {
      expect(answer).toMatchObject({ ok: false, error: { code: "resume_mismatch", message: expect.stringMatching(text) } });
    };
    refused(run.resume({ stop_when: "mean<0.4" }), /stop_when: the run has "mean<0.5", this command "mean<0.4"/);
    expect(run.resume({ stop_when: "mean<0.5" })).toMatchObject({ ok: true });
    refused(run.resume({ num_examples: 500 }), /num_examples: the run stops by "mean<0.5"/);
    const plain = RuleRun.open(4);
    plain.work();
    plain.settle();
    refused(plain.resume({ stop_when: "mean<0.5" }), /begun without a rule/);
    expect(plain.resume({ stop_when: "never" })).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
  });

  it("keeps the rule of one that was cancelled, and looks again at what a repair replaced", () => {
    const run = ruled(100, "mean<0.45");
    const grant = run.grant("a", 64);
    const { hi } = run.block(grant, 1, { free: 20 });
    for (let unit = 0; unit < hi; unit++) run.commit(grant, [unit], [unit < 10 ? lost : summary({ reward: scoreOf(unit) })]);
    expect(run.head.stopped).toBeUndefined();
    run.call("cancel", null);
    run.leave(grant);
    run.settle();
    run.resume();
    run.work(scored);
    expect(run.head.stopped).toMatchObject(
      found(
        "mean<0.45",
        100,
        Array.from({ length: 100 }, (_, unit) => scored(unit)),
      ) ?? { finding: "none" },
    );
  });

  it("of one whose files could not be written writes them, and plays nothing more", () => {
    const run = ruled(400, "mean<0.5");
    run.work(scored);
    const finishing = run.grant("finishing");
    run.call("fail", { ...run.id(finishing), failure: { code: "storage_damaged", message: "gone" } });
    const { stopped, done } = run.head;
    expect(run.head).toMatchObject({ status: "FAILED", unwritten: true });
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
    expect(run.head).toMatchObject({ status: "COMPLETED", phase: "finalising", stopped, done });
    run.settle();
    expect(run.head).toMatchObject({ status: "COMPLETED", phase: "settled" });
  });
});
