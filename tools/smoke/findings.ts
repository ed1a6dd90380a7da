/** What was measured, beside what to compare it with and where that number is from; and the hard rules that were broken. */
import { columnsOf, type Measure, numberText, targetText, verdict } from "../../bench/measure.ts";
import { MAX_CONNECTIONS } from "../../src/limits.ts";
import { idealMs, type Plan, scaleOf, wallMs } from "./plan.ts";
import type { ProbeStats } from "./probe-stats.ts";
import type { WatchedRun } from "./watched-run.ts";

/** Without a target it has either what to look at beside it, or nothing. */
export interface Finding extends Measure {
  /** What it would be where all goes as it does here. */
  readonly beside?: number;
  /** Of the target, or of what is beside it. */
  readonly source?: string;
}

const CEILING = 'docs/architecture.md, "The ceiling": wanted are max_concurrent / 5';
const COSTS = 'docs/architecture.md, "What a run costs": R2 class A at 30 s and 500 lanes';
/** Of that table. */
const COMMITS_PER_THOUSAND = 104;
/** Of a deployed executor: one connection is kept for R2. */
const EXECUTOR_REQUESTS = MAX_CONNECTIONS - 1;
/** When executors are counted, at a delay of 30 s. */
const MARKS_MS = [10_000, 30_000, 60_000] as const;

/** What each run showed; `probed` is null with a real model. `wall`: this one is to last longer than a consumer may. */
export function findingsOf(plan: Plan, run: WatchedRun, probed: ProbeStats | null, wall: boolean): readonly Finding[] {
  const { asked, firstCallMs, lastRowMs, settledMs, looks } = run;
  const scale = scaleOf(plan);
  const rollouts = asked.examples * asked.rollouts;
  const took = lastRowMs ?? settledMs ?? Number.NaN;
  const wanted = Math.ceil(asked.concurrency / EXECUTOR_REQUESTS);
  const row = (name: string, value: number, unit: string, more: Partial<Finding> = {}): Finding => ({ scenario: asked.name, name, value, unit, ...more });
  const atMark = MARKS_MS.flatMap((mark) => {
    const look = looks.findLast(({ ms }) => ms <= mark * scale);
    const name = `executors after ${numberText((mark * scale) / 1_000)} s`;
    return look === undefined || mark * scale > took ? [] : [row(name, look.executors, "executors", { beside: wanted, source: CEILING })];
  });
  const most = looks.reduce((peak, look) => (look.executors > peak.executors ? look : peak), { ms: 0, executors: 0 });
  return [
    row("create answered", run.createdMs / 1_000, "s"),
    row("first call seen", (firstCallMs ?? Number.NaN) / 1_000, "s", {
      beside: 2.5,
      source: "npm run bench -- cold-start: its target, a new process included",
    }),
    ...atMark,
    row("most executors at once", most.executors, "executors", { beside: wanted, source: CEILING }),
    row("reached after", most.ms / 1_000, "s"),
    ...(probed === null ? [row("most requests at once", run.peakRequests, "requests", { target: { at_most: asked.concurrency } })] : probeRows()),
    row("rollouts, create to last commit", (rollouts * 1_000) / took, "per second", {
      ...(plan.delayMs === 0 ? {} : { beside: (asked.concurrency * 1_000) / plan.delayMs, source: "max_concurrent / the model's time" }),
    }),
    row("last rollout committed after", took / 1_000, "s", {
      ...(wall ? { target: { at_least: wallMs(plan) / 1_000 }, source: "src/limits.ts, CONSUMER_WALL_MS: the wall is crossed" } : {}),
    }),
    row("final files after it", ((settledMs ?? Number.NaN) - took) / 1_000, "s"),
    row("grants", run.grants, "grants"),
    row("leases that lapsed", run.lapses, "lapses", { target: { at_most: 0 }, source: "nobody was killed" }),
    row("request retries", run.retries, "retries", probed === null ? {} : { target: { at_most: 0 }, source: "the probe refuses nothing" }),
    row("rollouts with an error", run.errored, "rollouts", { target: { at_most: 0 } }),
    // Each is one put into R2, one call on the Run and one transaction there.
    row("commits per 1,000 rollouts", (run.commits * 1_000) / rollouts, "commits", { beside: COMMITS_PER_THOUSAND, source: COSTS }),
    row("mean reward", run.meanReward, ""),
  ];

  function probeRows(): readonly Finding[] {
    if (probed === null) return [];
    const span = (probed.last_ms ?? Number.NaN) - (probed.first_ms ?? Number.NaN);
    return [
      row("most requests at once, at the endpoint", probed.most_at_once, "requests", {
        target: { at_most: asked.concurrency },
        source: "max_concurrent: a hard rule",
      }),
      row("reached after", ((probed.most_ms ?? Number.NaN) - run.begunAt) / 1_000, "s"),
      row("requests per rollout", probed.requests / rollouts, "requests", {
        target: { at_most: 1 },
        source: "docs/retries.md: nothing is asked twice where nothing fails",
      }),
      row("requests given up", probed.given_up, "requests", {
        target: { at_most: 0 },
        source: 'docs/architecture.md, "Tickets, epochs, leases": a slice ends with its units',
      }),
      row("lanes in use, first request to last", probed.busy_ms / (span * asked.concurrency), "share", {
        beside: 0.95,
        source: "test/simulation/full-fleet.test.ts: a full fleet",
      }),
      row("least time / time, first request to last", idealMs(plan, asked.examples) / span, "ratio", {
        target: { at_least: 0.95 },
        source: "npm run bench -- efficiency: its target, at 1 s",
      }),
    ];
  }
}

/** How long both runs had requests under way. */
export function together(first: ProbeStats, second: ProbeStats): Finding {
  const overlap = Math.min(first.last_ms ?? 0, second.last_ms ?? 0) - Math.max(first.first_ms ?? 0, second.first_ms ?? 0);
  const source = "all that the second run asked, it asked beside the first";
  const own = (second.last_ms ?? 0) - (second.first_ms ?? 0);
  return { scenario: "both", name: "at work at once", value: Math.max(0, overlap) / 1_000, unit: "s", beside: own / 1_000, source };
}

/** The hard rules that a run broke, each with its name. */
export function brokenRules({ asked, broken }: WatchedRun, probed: ProbeStats | null): readonly string[] {
  const { name, concurrency, examples, rollouts } = asked;
  const problems = [...broken];
  if (probed !== null && probed.most_at_once > concurrency) {
    problems.push(`the endpoint had ${probed.most_at_once} requests at once, max_concurrent is ${concurrency}`);
  }
  // Or nothing that it counted says anything of the run.
  if (probed !== null && broken.length === 0 && probed.requests < examples * rollouts) {
    problems.push(`the endpoint was asked ${probed.requests} times for ${examples * rollouts} rollouts: it is not the one that was called`);
  }
  return problems.map((problem) => `${name}: ${problem}`);
}

export function findingsTable(findings: readonly Finding[]): string {
  const rows = findings.map((each) => {
    const beside = each.beside === undefined ? targetText(each) : `~ ${numberText(each.beside)}`;
    return [each.scenario, each.name, Number.isFinite(each.value) ? numberText(each.value) : "-", each.unit, beside, verdict(each), each.source ?? ""];
  });
  return columnsOf(["run", "measure", "value", "unit", "compare", "", "where that is from"], rows);
}
