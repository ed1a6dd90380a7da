import { describe, expect, it } from "vitest";
import { killedAtStep, playedThroughKills } from "./killing.ts";
import { type Call, type SpendingPlan, SpendingWorld } from "./spending-world.ts";

const TOKEN = 1_000;
const BOUND = 1_000;
const EXECUTORS = 16;
const REQUESTS = 8;
const WAVE = EXECUTORS * REQUESTS * BOUND * TOKEN;
const SECOND = 1_000;

const takes = (random: { int(lo: number, hi: number): number }): number => random.int(200, 4_000);

/** Answers as an adversary would have them: what was seen of the ones says nothing of the others. */
const ANSWERS: readonly (readonly [string, SpendingPlan["call"]])[] = [
  ["all at their bounds", (_, random) => ({ bound: BOUND, tokens: BOUND, takes: takes(random) })],
  ["all far below their bounds", (_, random) => ({ bound: BOUND, tokens: random.int(1, 20), takes: takes(random) })],
  ["far below, and then all at their bounds", (at, random) => ({ bound: BOUND, tokens: at < 6_000 ? 10 : BOUND, takes: takes(random) })],
  ["at their bounds, and then far below", (at, random) => ({ bound: BOUND, tokens: at < 2_000 ? BOUND : 10, takes: takes(random) })],
  ["one or the other by chance, of small and large bounds", (_, random) => mixed(random)],
  [
    "long ones that are at their bounds beside short ones",
    (at, random) => (at % 7 === 0 ? { bound: BOUND, tokens: BOUND, takes: 60 * SECOND } : { ...mixed(random), takes: 300 }),
  ],
];

function mixed(random: Parameters<SpendingPlan["call"]>[1]): Call {
  const bound = random.pick([10, 100, BOUND]);
  return { bound, tokens: random.chance(0.5) ? bound : random.int(1, Math.ceil(bound / 50)), takes: takes(random) };
}

const planOf = (call: SpendingPlan["call"], plan: Partial<SpendingPlan> = {}): SpendingPlan => ({
  ...{ seed: 1, budgets: { "team/a": { total: 1_500_000 } }, calls: 10_000, call, executors: EXECUTORS, requests: REQUESTS },
  ...plan,
});

const gone = (world: SpendingWorld, name = "team/a"): number => {
  const { settled, unseen } = world.budgets.get(name)?.view.spent.total ?? { settled: Number.NaN, unseen: { amount: Number.NaN } };
  return settled + unseen.amount;
};

describe("10,000 calls of 16 executors from one budget", () => {
  it.each(ANSWERS)(
    "with answers %s: nothing above it is billed, and less than one call of it is left",
    async (_, call) => {
      const world = new SpendingWorld(planOf(call));
      await world.play();
      const limit = 1_500_000 * TOKEN;
      expect(gone(world)).toBe(world.billed.get(""));
      expect(world.budgets.get("team/a")?.view).toMatchObject({ allotted: 0, spent: { total: { unseen: { calls: 0, amount: 0 } } } });
      if (world.over === 0) expect(world.answered).toBe(10_000);
      // Stronger than a wave of reservations: all that was out came back before it was over.
      else expect(limit - gone(world)).toBeLessThan(BOUND * TOKEN);
      expect(limit - gone(world)).toBeLessThan(world.over === 0 ? limit : WAVE);
    },
    60_000,
  );

  it("some of which come when others have nearly all of it", async () => {
    const call: SpendingPlan["call"] = (_, random) => ({ bound: BOUND, tokens: random.chance(0.5) ? BOUND : 5, takes: takes(random) });
    const world = new SpendingWorld(planOf(call, { budgets: { "team/a": { total: 400_000 } }, comesAfter: (_, random) => random.int(0, 40 * SECOND) }));
    await world.play();
    expect(world.over).toBeGreaterThan(0);
    expect(400_000 * TOKEN - gone(world)).toBeLessThan(BOUND * TOKEN);
  });

  it("takes from two that hold at once, and from neither more than it has", async () => {
    for (const [one, other] of [
      [300_000, 1_000_000],
      [1_000_000, 300_000],
      [300_000, 300_000],
    ] as const) {
      const call: SpendingPlan["call"] = (_, random) => mixed(random);
      const world = new SpendingWorld(planOf(call, { calls: 5_000, budgets: { "key/a/K": { total: one }, "team/a": { total: other } } }));
      await world.play();
      expect(world.over).toBeGreaterThan(0);
      expect([gone(world, "key/a/K"), gone(world)]).toEqual(Array(2).fill(world.billed.get("")));
      expect(300_000 * TOKEN - gone(world)).toBeLessThan(BOUND * TOKEN);
    }
  });

  it("counts answers that are lost at their bounds, and says so", async () => {
    const call: SpendingPlan["call"] = (at, random) => ({ ...mixed(random), isLost: at % 10 === 0 });
    const world = new SpendingWorld(planOf(call, { calls: 3_000, budgets: { "team/a": { total: 200_000 } } }));
    await world.play();
    const { settled, unseen } = world.budgets.get("team/a")?.view.spent.total ?? { settled: 0, unseen: { calls: 0, amount: 0 } };
    expect(unseen.calls).toBeGreaterThan(20);
    expect(settled + unseen.amount).toBeGreaterThanOrEqual(world.billed.get("") ?? 0);
    expect(200_000 * TOKEN - settled - unseen.amount).toBeLessThan(BOUND * TOKEN);
  });

  it("has a new day's money at midnight, and spends no day's twice", async () => {
    const call: SpendingPlan["call"] = (_, random) => ({ bound: BOUND, tokens: random.chance(0.5) ? BOUND : 5, takes: takes(random) });
    const world = new SpendingWorld(
      planOf(call, { calls: 2_000, budgets: { "team/a": { day: 300_000 } }, comesAfter: (at) => 86_400_000 - 20 * SECOND + at * SECOND }),
    );
    world.time.clock.at(0, () => world.executors[0]?.kill());
    await world.time.pass(86_400_000 + 6 * SECOND);
    await world.play();
    // The provider's own word, by when a call began and ended, is held to the limit as it bills.
    const days = [...world.billed].filter(([label]) => label.startsWith("begun"));
    expect(days.length).toBe(2);
    for (const [, sum] of days) expect(sum).toBeGreaterThan(100_000 * TOKEN);
  });
});

describe("a budget through faults", () => {
  it("is never overspent, and used but for what the dead had, over 60 schedules of kills, outages and lost, late and doubled messages", {
    timeout: 120_000,
  }, async () => {
    expect(await playedThroughKills(Array.from({ length: 60 }, (_, at) => at + 1))).toEqual([]);
  });

  it("is never overspent with the Budget killed at one step in five of its life", { timeout: 120_000 }, async () => {
    const { steps, broken } = await killedAtStep(5);
    expect(broken).toEqual([]);
    expect(steps).toBeGreaterThan(100);
  });
});
