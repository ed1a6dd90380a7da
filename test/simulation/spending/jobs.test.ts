import { describe, expect, it } from "vitest";
import { broken } from "../invariants.ts";
import { NO_FAULTS } from "../world/exchange-line.ts";
import { Random } from "../world/random.ts";
import { type Asked, checkJobs, type JobPlan, JobWorld } from "./job-world.ts";
import { SpendingWorld } from "./spending-world.ts";

const TOKEN = 1_000;
const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const DAY = 24 * HOUR;
const BOUND = 1_000;

const asks = (of: (at: number) => Asked): JobPlan["asked"] => of;
const worldOf = (budgets: ConstructorParameters<typeof SpendingWorld>[0]["budgets"], calls = 0, seed = 1): SpendingWorld =>
  new SpendingWorld({ seed, budgets, calls, call: () => ({ bound: 200, tokens: 30, takes: 2 * SECOND }), executors: calls === 0 ? 0 : 2, requests: 4 });
const jobsOf = (world: SpendingWorld, asked: JobPlan["asked"], more: Partial<JobPlan> = {}): JobWorld =>
  new JobWorld(world, { requests: 5_000, asked, most: 1_000, takes: (random) => random.int(60 * SECOND, 20 * HOUR), ...more });

async function played(jobs: JobWorld, until = 60 * DAY): Promise<void> {
  jobs.start();
  await jobs.world.time.pass(until, () => (jobs.isDone && jobs.world.isOver) || jobs.world.problem !== null);
  if (jobs.world.problem !== null) broken(jobs.world.problem);
  // The last executors have gone, and what was reserved and not sent is given back.
  await jobs.world.time.pass(jobs.world.time.clock.now + HOUR + 60 * SECOND);
}
const gone = ({ world }: JobWorld, name = "team/a"): number => {
  const { settled, unseen } = world.budgets.get(name)?.view.spent.total ?? { settled: Number.NaN, unseen: { amount: 0 } };
  return settled + unseen.amount;
};

describe("a budget that pays for batches", () => {
  it.each([
    ["at their bounds", asks(() => ({ bound: BOUND, tokens: BOUND, end: "answered" }))],
    ["far below them", asks(() => ({ bound: BOUND, tokens: 200, end: "answered" }))],
    ["now one and now the other", asks((at) => ({ bound: BOUND, tokens: at % 7 === 0 ? BOUND : 20, end: "answered" }))],
  ])("of answers %s is never overspent, and has less than one request left when it is over", async (_, asked) => {
    const jobs = jobsOf(worldOf({ "team/a": { total: 90_000 } }), asked);
    await played(jobs);
    checkJobs(jobs, true);
    expect(jobs.isOver).toBe(true);
    expect(90_000 * TOKEN - gone(jobs)).toBeLessThan(BOUND * TOKEN);
  });

  it("is asked for no more than it has where that is enough, and what was lost costs nothing", async () => {
    const jobs = jobsOf(
      worldOf({ "team/a": { total: 1_100_000 } }),
      asks((at) => ({ bound: BOUND, tokens: 200, end: at % 10 === 0 ? "lost" : "answered" })),
    );
    await played(jobs);
    checkJobs(jobs, true);
    expect([jobs.isOver, jobs.answered, gone(jobs)]).toEqual([false, 4_500, 4_500 * 200 * TOKEN]);
  });

  it("counts answers that do not say what they took at their bounds, and says so", async () => {
    const jobs = jobsOf(
      worldOf({ "team/a": { total: 90_000 } }),
      asks((at) => ({ bound: BOUND, tokens: 500, end: at % 3 === 0 ? "silent" : "answered" })),
    );
    await played(jobs);
    checkJobs(jobs, false);
    const unseen = jobs.world.budgets.get("team/a")?.view.spent.total.unseen;
    expect(unseen?.amount).toBe((unseen?.calls ?? 0) * BOUND * TOKEN);
    expect(90_000 * TOKEN - gone(jobs)).toBeLessThan(BOUND * TOKEN);
  });

  it("pays judges beside them, from several budgets, none of which has less than it may", async () => {
    const budgets = { "key/a/K": { total: 200_000 }, "team/a": { total: 150_000 } };
    const jobs = jobsOf(
      worldOf(budgets, 5_000),
      asks((at) => ({ bound: at % 2 === 0 ? BOUND : 300, tokens: 100, end: "answered" })),
      { requests: 400, takes: (random) => random.int(SECOND, 120 * SECOND) },
    );
    await played(jobs);
    checkJobs(jobs, true);
    expect(gone(jobs)).toBe(gone(jobs, "key/a/K"));
    expect(jobs.isOver || jobs.world.over > 0).toBe(true);
    expect(150_000 * TOKEN - gone(jobs)).toBeLessThan(BOUND * TOKEN);
  });

  it("of a day pays no more in any day, by when the provider bills", async () => {
    const jobs = jobsOf(
      worldOf({ "team/a": { day: 20_000 } }),
      asks((at) => ({ bound: BOUND, tokens: at % 2 === 0 ? BOUND : 10, end: "answered" })),
      { requests: 300, most: 5 },
    );
    await played(jobs);
    checkJobs(jobs, true);
    const days = [...jobs.world.billed].filter(([label]) => label.startsWith("ended"));
    expect(days.length).toBeGreaterThan(1);
  });
});

describe("a budget that pays for batches, through faults", () => {
  async function playSeed(seed: number): Promise<void> {
    const random = new Random(seed);
    const two = random.chance(0.4);
    const calls = random.pick([0, 0, 300]);
    const total = random.int(20_000, 400_000);
    const world = worldOf({ "team/a": { total }, ...(two ? { "run/00000001": { total: random.int(20_000, 400_000) } } : {}) }, calls, seed);
    const jobs = jobsOf(
      world,
      (_, chance) => {
        const bound = chance.pick([50, 300, BOUND]);
        const end = chance.chance(0.05) ? "lost" : chance.chance(0.02) ? "silent" : "answered";
        return { bound, tokens: chance.chance(0.5) ? bound : chance.int(1, 10), end };
      },
      {
        requests: 2_000,
        most: random.pick([20, 200, 1_000]),
        takes: (chance) => chance.int(SECOND, calls > 0 ? 20 * SECOND : chance.pick([20 * SECOND, 20 * HOUR])),
      },
    );
    world.faults = {
      ...{ lost: random.pick([0, 0.02, 0.15]), answerLost: random.pick([0, 0.02, 0.15]), doubled: random.pick([0, 0.2]), late: random.pick([0, 0.2]) },
      late_ms: random.pick([200, 3 * SECOND, 20 * SECOND]),
    };
    const calmAt = random.int(1, 20) * 15 * SECOND;
    const often = (mean: number | null, strike: () => void): void => {
      if (mean === null) return;
      const next = (): void =>
        world.time.clock.after(-Math.log(1 - random.next()) * mean, () => {
          if (world.time.clock.now >= calmAt) return;
          strike();
          next();
        });
      next();
    };
    often(random.pick([null, 300, 5 * SECOND]), () => random.pick([...world.budgets.values()]).kill());
    // Whoever carried the batches is dead, or hears later that another one does.
    often(random.pick([200, 2 * SECOND, 60 * SECOND]), () => {
      if (random.chance(0.8)) jobs.kill();
      if (random.chance(0.7)) jobs.start();
    });
    world.time.clock.at(calmAt, () => {
      world.faults = NO_FAULTS;
      jobs.kill();
      jobs.start();
    });
    await played(jobs);
    checkJobs(jobs, false);
    if (!jobs.isOver) return;
    const left = Math.min(
      ...[...world.budgets.values()].map(({ view: { limits, spent } }) => (limits.total ?? 0) - spent.total.settled - spent.total.unseen.amount),
    );
    expect(left, "what is left when it is over").toBeLessThan(jobs.leastOpen * TOKEN);
  }

  it("is never overspent, nor over before its time, and counts each batch once, over 60 schedules of kills, late grants and lost, late and doubled words", {
    timeout: 120_000,
  }, async () => {
    const failures: string[] = [];
    for (let seed = 1; seed <= 60; seed++)
      await playSeed(seed).catch((thrown: unknown) => void failures.push(`seed ${seed}: ${thrown instanceof Error ? thrown.message : String(thrown)}`));
    expect(failures).toEqual([]);
  });
});
