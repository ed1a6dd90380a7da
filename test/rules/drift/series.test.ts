import { describe, expect, it } from "vitest";
import { type ComparisonOutcome, type DriftState, type EndedRun, nextComparison, resetDrift, runCompared, runEnded } from "../../../src/drift/series.ts";
import { type DriftSettings, USUAL_DRIFT } from "../../../src/drift/settings.ts";
import { DRIFT_CASES, playDrift } from "../../statistics/drift.ts";

const RULER = { of: "definition", dataset_digest: "d", env_digest: "e" };
const ended = (run_id: string, changes: Partial<EndedRun> = {}): EndedRun => ({
  run_id,
  status: "COMPLETED",
  rollouts: 100,
  errored: 0,
  stopped: false,
  ruler: RULER,
  ...changes,
});
const compared = (difference: number, stderr: number | null = 0.04, baseline_runs = ["r0", "r1", "r2"]): Extract<ComparisonOutcome, { kind: "compared" }> => ({
  kind: "compared",
  baseline_runs,
  metric: "reward",
  n: 100,
  baseline: 0.8,
  candidate: 0.8 + difference,
  difference,
  stderr,
  ci95: [difference - 0.08, difference + 0.08],
  range: [0, 1],
  attempts: { baseline: 3, run: 1 },
  errored: 0,
});

/** A series, and what was said of it. */
class Played {
  state: DriftState | null = null;
  readonly verdicts = new Map<string, string>();
  readonly events: string[] = [];
  #runs = 0;

  run(outcome: ComparisonOutcome | null, changes: Partial<EndedRun> = {}, settings: DriftSettings = USUAL_DRIFT): string {
    const run_id = `r${this.#runs++}`;
    this.take(runEnded(this.state, ended(run_id, changes), settings, 1));
    if (outcome !== null && this.state !== null) {
      expect(nextComparison(this.state)?.run_id).toBe(run_id);
      this.take(runCompared(this.state, run_id, outcome, 2));
      // The same once more is nothing.
      expect(runCompared(this.state, run_id, compared(-1), 3)).toBeNull();
    }
    return this.verdicts.get(run_id) ?? "none";
  }

  take(step: ReturnType<typeof runEnded>): void {
    if (step === null) return;
    this.state = JSON.parse(JSON.stringify(step.state)) as DriftState;
    for (const { run_id, drift } of step.verdicts) this.verdicts.set(run_id, drift.verdict === "unjudged" ? `unjudged: ${drift.reason}` : drift.verdict);
    this.events.push(...step.events.map((event) => ("reason" in event ? `${event.type} ${event.reason}` : `${event.type} ${event.since}`)));
  }
}

const gathered = (): Played => {
  const series = new Played();
  for (let i = 0; i < 3; i++) expect(series.run(null)).toBe("gathering");
  return series;
};

describe("a series of runs", () => {
  it("is steady, gets worse, and is steady again, each told once and since which run", () => {
    const series = gathered();
    const noise = [0.02, -0.03, 0.01, 0.04, -0.02, 0];
    for (const difference of noise) expect(series.run(compared(difference))).toBe("steady");
    const low: string[] = [];
    for (let i = 0; i < 6; i++) low.push(series.run(compared(-0.2 + (noise[i] ?? 0))));
    expect(low.at(-1)).toBe("worse");
    expect(low.indexOf("worse")).toBeLessThanOrEqual(2);
    const back: string[] = [];
    for (let i = 0; i < 8; i++) back.push(series.run(compared(noise[i % 6] ?? 0)));
    expect(back.at(-1)).toBe("steady");
    expect(series.events).toEqual(["drift.worse r9", expect.stringMatching(/^drift\.steady r1[56]$/)]);
    for (let i = 0; i < 6; i++) series.run(compared(0.2));
    expect(series.events.at(-1)).toMatch(/^drift\.better/);
  });

  it("does not drift off because its baseline was lucky: one level of all runs is no change, however long it goes on", () => {
    const series = gathered();
    for (let i = 0; i < 150; i++) expect(series.run(compared(-0.03 + 0.02 * Math.sin(i)))).toBe("steady");
  });

  it("says nothing of runs that failed, stopped early, or have many errors: they are no drift, and none of the baseline", () => {
    const series = new Played();
    series.run(null);
    expect(series.run(null, { errored: 6 })).toContain("6.0 % of its rollouts ended in an error");
    expect(series.run(null, { status: "FAILED" })).toContain("FAILED");
    expect(series.run(null, { stopped: true })).toContain("stopped early");
    expect(series.run(null, { errored: 5 })).toBe("gathering");
    expect(series.run(null)).toBe("gathering");
    expect(series.state?.baseline).toEqual(["r0", "r4", "r5"]);
    expect(series.run({ kind: "unjudged", reason: "run r0 is gone" })).toBe("unjudged: run r0 is gone");
    expect(series.run(compared(0))).toBe("steady");
  });

  it.each([
    [{ ...RULER, dataset_digest: "other" }, "data.changed"],
    [{ ...RULER, env_digest: "other" }, "code.changed"],
    [{ ...RULER, of: "another definition" }, "definition.changed"],
  ])("begins anew by another ruler: %j", (ruler, reason) => {
    const series = gathered();
    for (let i = 0; i < 4; i++) series.run(compared(-0.5));
    expect(series.state?.course.verdict).toBe("worse");
    // What a run does not say is no change.
    series.run(compared(-0.5), { ruler: { ...RULER, env_digest: null } });
    expect(series.run(null, { ruler })).toBe("gathering");
    expect(series.events.at(-1)).toBe(`drift.began ${reason}`);
    expect(series.state).toMatchObject({ baseline: ["r8"], course: { verdict: "steady" }, since: null });
  });

  it("begins anew when it is asked to, and when the name of its baseline is another run's", () => {
    const series = gathered();
    series.run(compared(-0.5));
    if (series.state !== null) series.take(resetDrift(series.state, 5));
    expect(series.events.at(-1)).toBe("drift.began reset");
    expect(series.run(null)).toBe("gathering");

    const named = new Played();
    const settings = { ...USUAL_DRIFT, baseline: "main" };
    const step = (difference: number, of: string) => named.run(compared(difference, 0.04, [of]), {}, settings);
    for (let i = 0; i < 4; i++) step(-0.4, "aaaa0001");
    expect(named.state?.course.verdict).toBe("worse");
    expect(step(0, "aaaa0002")).toBe("steady");
    expect(named.events).toEqual(["drift.worse r0", "drift.began baseline.changed"]);
  });

  it("has a verdict where rewards are all 0 or 1, and no two pairs differ", () => {
    const series = gathered();
    for (let i = 0; i < 5; i++) expect(series.run({ ...compared(0, null), n: 8, ci95: null })).toBe("steady");
    series.run({ ...compared(-1, null), n: 8 });
    expect(series.run({ ...compared(-1, null), n: 8 })).toBe("worse");
    expect(series.run({ ...compared(0, null), n: 1 })).toContain("fewer than two examples");
  });

  it("is not looked at where its definition says none", () => {
    const series = new Played();
    expect(series.run(null, {}, { ...USUAL_DRIFT, baseline: "none" })).toBe("none");
    expect(series.state).toBeNull();
  });
});

it("in a hundred runs without a change at most one alarm is false, and a drop of five points is found", { timeout: 60_000 }, () => {
  const caseOf = (examples: number, drop: number) => DRIFT_CASES.find((each) => each.examples === examples && each.drop === drop && each.p === 0.5);
  for (const examples of [20, 200]) {
    const [played] = [caseOf(examples, 0)];
    if (played === undefined) throw new Error("no such case");
    expect(playDrift(played, 3, 7).alarms).toBeLessThanOrEqual(1);
  }
  const dropped = caseOf(500, 0.05);
  if (dropped === undefined) throw new Error("no such case");
  expect(playDrift({ ...dropped, steady: 10 }, 30, 7).found[1]).toBeGreaterThan(0.8);
});
