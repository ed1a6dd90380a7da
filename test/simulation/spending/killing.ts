import { NO_FAULTS } from "../world/exchange-line.ts";
import { Random } from "../world/random.ts";
import { broken } from "../invariants.ts";
import { type SpendingPlan, SpendingWorld } from "./spending-world.ts";

const TOKEN = 1_000;
const SECOND = 1_000;
const MOST = 1_000;
/** Two leases, and the latest message of a dead one between them. */
const CALM_MS = 60 * SECOND;

const callOf: SpendingPlan["call"] = (_, random) => {
  const bound = random.pick([50, 300, MOST]);
  return { bound, tokens: random.chance(0.5) ? bound : random.int(1, 10), takes: random.int(50, 5_000), isLost: random.chance(0.02) };
};

/** A schedule of everything that may go wrong. */
async function playSeed(seed: number): Promise<void> {
  const random = new Random(seed);
  const total = random.int(20_000, 400_000);
  const two = random.chance(0.4);
  const executors = random.int(1, 16);
  const world = new SpendingWorld({
    seed,
    budgets: { "team/a": { total }, ...(two ? { "run/00000001": { total: random.int(20_000, 400_000) } } : {}) },
    calls: 800,
    call: callOf,
    executors,
    requests: random.int(1, 8),
    comesAfter: (_, chance) => chance.int(0, 20 * SECOND),
    line: {
      lost: random.pick([0, 0.02, 0.15]),
      answerLost: random.pick([0, 0.02, 0.15]),
      doubled: random.pick([0, 0.2]),
      late: random.pick([0, 0.2]),
      late_ms: random.pick([200, 3_000, 20_000]),
    },
  });
  const often = (mean: number | null, strike: () => void): void => {
    if (mean === null) return;
    const next = (): void =>
      world.time.clock.after(-Math.log(1 - random.next()) * mean, () => {
        if (world.time.clock.now >= calmAt || world.isOver) return;
        strike();
        next();
      });
    next();
  };
  const calmAt = random.int(10, 90) * SECOND;
  often(random.pick([null, 300, 5 * SECOND]), () => random.pick([...world.budgets.values()]).kill());
  often(random.pick([null, 3 * SECOND, 10 * SECOND]), () => {
    const living = world.executors.filter(({ isAtWork }) => isAtWork);
    if (living.length === 0) return;
    random.pick(living).kill();
    world.startAfter(random.int(0, 15 * SECOND));
  });
  world.time.clock.at(calmAt, () => {
    world.faults = NO_FAULTS;
  });
  await world.play();
  await world.time.pass(Math.max(world.time.clock.now, calmAt) + CALM_MS);
  check(world);
}

/** Nothing of what the provider is owed is uncounted, nobody has any of it, and what was refused was refused for want of money. */
function check(world: SpendingWorld): void {
  let least = Number.POSITIVE_INFINITY;
  for (const [name, node] of world.budgets) {
    const { limits, spent, allotted } = node.view;
    const { settled, unseen } = spent.total;
    if (allotted !== 0) broken(`${name} has ${allotted} in hands that are gone`);
    if (settled + unseen.amount < (world.billed.get("") ?? 0)) broken(`${name} knows of ${settled + unseen.amount}, and ${world.billed.get("")} were billed`);
    if (unseen.amount > 0 !== unseen.calls > 0) broken(`${name} has ${unseen.amount} of ${unseen.calls} calls whose end nobody saw`);
    least = Math.min(least, (limits.total ?? 0) - settled - unseen.amount);
  }
  if (world.over > 0 && least >= MOST * TOKEN) broken(`calls were refused, and ${least} are left`);
  if (world.over === 0 && world.answered < world.plan.calls) broken(`${world.answered} of ${world.plan.calls} calls were answered, and none refused`);
}

/** What was broken, by seed. */
export async function playedThroughKills(seeds: readonly number[]): Promise<readonly string[]> {
  const failures: string[] = [];
  for (const seed of seeds) {
    try {
      await playSeed(seed);
    } catch (thrown) {
      failures.push(`seed ${seed}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }
  return failures;
}

async function playStep(killAt: number | null): Promise<number> {
  const world = new SpendingWorld({ seed: 7, budgets: { "team/a": { total: 30_000 } }, calls: 120, call: callOf, executors: 3, requests: 3 });
  const [budget] = world.budgets.values();
  if (budget === undefined) broken("there is no Budget");
  budget.killAt = killAt;
  await world.play();
  await world.time.pass(world.time.clock.now + CALM_MS);
  check(world);
  return budget.steps;
}

/** Every so many of the steps that a Budget takes: killed there, once. */
export async function killedAtStep(every: number): Promise<{ readonly steps: number; readonly broken: readonly string[] }> {
  const steps = await playStep(null);
  const failures: string[] = [];
  for (let at = 0; at < steps; at += every) {
    try {
      await playStep(at);
    } catch (thrown) {
      failures.push(`a kill at step ${at}: ${thrown instanceof Error ? thrown.message : String(thrown)}`);
    }
  }
  return { steps, broken: failures };
}
