import { VALID_MS } from "../../../durable-objects/limiter/exchange-times.ts";
import type { Amounts } from "../../../src/endpoint-limits/limit-kinds.ts";
import { broken } from "../invariants.ts";
import { Random } from "../world/random.ts";
import { Chaos, type ChaosPlan } from "./world/chaos.ts";
import { LimitedWorld } from "./world/limited-world.ts";
import { NO_FAULTS } from "../world/exchange-line.ts";
import type { RunPlan } from "./world/run-load.ts";
import { SendsWatch } from "./sends-watch.ts";

const SECOND = 1_000;
/** Longest that runs may take after the last fault. */
const PATIENCE_MS = 30 * 60 * SECOND;
/** Two executors' calls are not noticed to be lost for so long, and are repeated after as much again. */
const REPEAT_MS = 4 * SECOND;
/** Within that all of a limit is used again, whatever happened. */
const LEASE_MS = VALID_MS + REPEAT_MS;

export interface HostilePlan {
  readonly seed: number;
  /** What a person gave: a limit that everybody knows, and that nothing may exceed. */
  readonly given: Amounts;
  readonly executors: number;
  readonly runs: readonly RunPlan[];
  readonly takes: readonly [number, number];
  readonly chaos: ChaosPlan;
  /** Step of the Limiter at which it is killed; null = at none. */
  readonly killAt: number | null;
}

const runId = (at: number): string => (at + 1).toString(16).padStart(8, "0");

/** A schedule of everything that may go wrong. */
export function hostilePlan(seed: number): HostilePlan {
  const random = new Random(seed);
  const given: Amounts = random.pick([
    { concurrent: random.int(1, 12) },
    { concurrent: random.int(1, 12), requests: random.int(60, 600) },
    { requests: random.int(60, 600) },
  ]);
  return {
    seed,
    given,
    executors: random.int(1, 4),
    runs: Array.from({ length: random.int(1, 5) }, (_, at) => ({
      id: runId(at),
      examples: random.int(20, 120),
      concurrency: random.int(1, 24),
      priority: random.pick([1, 1, 0.5, 4]),
      from_ms: random.int(0, 20 * SECOND),
    })),
    takes: random.pick([
      [100, 400],
      [500, 3_000],
    ]),
    chaos: {
      line: {
        lost: random.pick([0, 0.02, 0.1]),
        answerLost: random.pick([0, 0.02, 0.1]),
        doubled: random.pick([0, 0.1]),
        late: random.pick([0, 0.1]),
        late_ms: random.pick([200, 3_000]),
      },
      limiterKills_ms: random.pick([null, 2 * SECOND, 15 * SECOND]),
      outages_ms: random.pick([null, null, 30 * SECOND]),
      executorKills_ms: random.pick([null, null, 20 * SECOND]),
      calmAt: random.int(10, 90) * SECOND,
    },
    killAt: null,
  };
}

/** A quiet world in which the Limiter is killed once, at that step; null = not at all. */
export const stepPlan = (killAt: number | null): HostilePlan => ({
  seed: 1,
  given: { concurrent: 6 },
  executors: 3,
  runs: [0, 1, 2].map((at) => ({ id: runId(at), examples: 30, concurrency: 9, from_ms: at * 2 * SECOND })),
  takes: [300, 1_500],
  chaos: { line: NO_FAULTS, limiterKills_ms: null, outages_ms: null, executorKills_ms: null, calmAt: 0 },
  killAt,
});

export interface HostileEnd {
  /** Steps that the Limiter took. */
  readonly steps: number;
  readonly took_ms: number;
}

/** Plays it to its end; what was broken, where something was. */
export async function playHostile(plan: HostilePlan): Promise<HostileEnd | string> {
  const { seed, given, executors, runs, takes } = plan;
  const world = new LimitedWorld({ seed, executors, runs, provider: {}, traffic: { takes, output: [10, 50] }, base_url: "http://127.0.0.1:9999/v1" });
  try {
    world.limiter.killAt = plan.killAt;
    world.limiter.given = given;
    const chaos = new Chaos(world, plan.chaos);
    const watch = new SendsWatch(world, given);
    const end = plan.chaos.calmAt + PATIENCE_MS;
    while (!world.runs.every((run) => run.isOver)) {
      if (world.now > end) broken(`runs do not end: ${world.runs.map((run) => `${run.answeredAt.length} of ${run.plan.examples}`).join(", ")}`);
      await world.pass(world.now + SECOND);
      watch.check();
      const faults = Math.max(chaos.lastAt, world.limiter.killedAt ?? 0);
      if (world.now - faults > LEASE_MS) watch.checkUse(LEASE_MS);
    }
    for (const { plan: run, failures } of world.runs) if (failures.length > 0) broken(`run ${run.id} lost ${failures.length} examples: ${failures[0]}`);
    return { steps: world.limiter.steps, took_ms: world.now };
  } catch (thrown) {
    return `${plan.killAt === null ? `seed ${seed}` : `a kill at step ${plan.killAt}`}, at ${world.now} ms: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
}
