import { describe, expect, it } from "vitest";
import { LimiterWorld } from "../../support/limiting/limiter-world.ts";

/** Whatever is lost, late, doubled, killed or begun anew: nobody is ever above the limit, and what somebody had is free again after a lease. */

const LEASE_MS = 10_500;
const BAD = { lost: 0.05, doubled: 0.1, late: 0.05 };

describe.each([1, 2, 3, 4, 5, 6])("a bad network, killed executors and a Limiter that begins anew (seed %i)", (seed) => {
  it("leave what is in flight below its limit, and all of it in use once that is over", async () => {
    const world = new LimiterWorld({ seed, executors: 6, given: { concurrent: 8 } });
    const runs = Array.from({ length: 5 }, (_, at) => ({ name: `r${at}`, lanes: 6 }));
    for (const run of runs) world.serve(run);
    world.network = BAD;
    for (let step = 0; step < 60; step++) {
      await world.pass(world.random.int(100, 3_000), () => expect(world.open).toBeLessThanOrEqual(8));
      const happens = world.random.int(0, 9);
      if (happens < 2) world.reset();
      const alive = [...world.executors.entries()].filter(([, executor]) => executor.alive).map(([at]) => at);
      if (happens !== 2 || alive.length < 3) continue;
      world.kill(world.random.pick(alive));
      world.start();
      for (const run of runs) world.serveAt(world.executors.length - 1, run);
    }
    world.network = { lost: 0, doubled: 0, late: 0 };
    await world.pass(2 * LEASE_MS, () => expect(world.open).toBeLessThanOrEqual(8));
    const since = world.now;
    let least = 8;
    await world.pass(10_000, () => {
      least = Math.min(least, world.open);
    });
    expect(least).toBeGreaterThanOrEqual(4);
    expect(world.begunSince(since).size).toBe(5);
  });

  it("leave what begins in any minute below its limit", async () => {
    const world = new LimiterWorld({ seed, executors: 5, given: { requests: 300 } });
    for (let n = 0; n < 5; n++) world.serve({ name: `r${n}`, lanes: 10 });
    world.network = BAD;
    for (let step = 0; step < 60; step++) {
      await world.pass(world.random.int(100, 5_000));
      if (world.random.chance(0.2)) world.reset();
    }
    expect(world.mostInAMinute).toBeLessThanOrEqual(300);
    expect(world.begun.length).toBeGreaterThan(200);
  });
});

describe("a Limiter that begins anew", () => {
  it("at every single exchange leaves everybody what they have, and nobody more", async () => {
    const world = new LimiterWorld({ executors: 4, given: { concurrent: 6 } });
    for (let n = 0; n < 3; n++) world.serve({ name: `r${n}`, lanes: 6 });
    await world.pass(5_000);
    expect(world.open).toBe(6);
    world.onExchange = () => world.reset();
    const since = world.now;
    await world.pass(30_000, () => expect(world.open).toBeLessThanOrEqual(6));
    expect(world.begunSince(since).size).toBeGreaterThan(0);
    expect(world.begun.length).toBeGreaterThan(150);
    world.onExchange = () => undefined;
    const later = world.now;
    await world.pass(LEASE_MS + 5_000, () => expect(world.open).toBeLessThanOrEqual(6));
    expect(world.begunSince(later).size).toBe(3);
  });

  it("after each of the first exchanges in turn, with what was known then, hands out no more than the limit", async () => {
    for (let at = 0; at < 40; at++) {
      const world = new LimiterWorld({ seed: at, executors: 3, given: { concurrent: 5 } });
      for (let n = 0; n < 4; n++) world.serve({ name: `r${n}`, lanes: 4 });
      let count = 0;
      world.onExchange = () => {
        if (count++ === at) world.reset();
      };
      await world.pass(LEASE_MS + 10_000, () => expect(world.open).toBeLessThanOrEqual(5));
      expect(world.open).toBeGreaterThanOrEqual(3);
      expect(world.begunSince(LEASE_MS).size).toBe(4);
    }
  });

  it("gives a new run nothing until what was handed out must be over, and then its part", async () => {
    const world = new LimiterWorld({ executors: 2, given: { concurrent: 4 } });
    world.serve({ name: "old", lanes: 8, at: [0] });
    await world.pass(3_000);
    world.reset();
    world.serve({ name: "new", lanes: 8, at: [1] });
    await world.pass(LEASE_MS - 600);
    expect(world.begunSince(0).get("new")).toBeUndefined();
    await world.pass(3_000);
    expect(world.begunSince(0).get("new")).toBeGreaterThan(0);
  });

  it("need not wait where the executors of before are gone with their process", async () => {
    const world = new LimiterWorld({ executors: 1, given: { concurrent: 4 } });
    world.serve({ name: "old", lanes: 8 });
    await world.pass(3_000);
    world.kill(0);
    world.reset();
    if (world.stored !== null) world.stored = { ...world.stored, life: "another boot" };
    world.start();
    world.serveAt(1, { name: "new", lanes: 8 });
    await world.pass(500);
    expect(world.open).toBe(4);
  });
});

describe("an executor that is killed", () => {
  it("gives back what it had after a lease, and not before", async () => {
    const world = new LimiterWorld({ executors: 2, given: { concurrent: 6 } });
    world.serve({ name: "a", lanes: 8, at: [0] });
    world.serve({ name: "b", lanes: 8, at: [1] });
    await world.pass(5_000);
    world.kill(0);
    await world.pass(LEASE_MS - 1_000);
    expect(world.open).toBe(3);
    await world.pass(2_000);
    expect(world.open).toBe(6);
  });

  it("and one that is cut off begins nothing once its share is over, while others have its permits", async () => {
    const world = new LimiterWorld({ executors: 2, given: { concurrent: 6 } });
    world.serve({ name: "a", lanes: 8, at: [0], takes: 200 });
    world.serve({ name: "b", lanes: 8, at: [1], takes: 200 });
    await world.pass(5_000);
    world.network = { lost: 1, doubled: 0, late: 0 };
    await world.pass(LEASE_MS + 1_000, () => expect(world.open).toBeLessThanOrEqual(6));
    expect(world.open).toBe(0);
    world.network = { lost: 0, doubled: 0, late: 0 };
    await world.pass(5_000);
    expect(world.open).toBe(6);
  });
});

describe("what is said twice or too late", () => {
  it("counts once", async () => {
    const world = new LimiterWorld({ executors: 2, given: { concurrent: 4 } });
    world.network = { lost: 0.2, doubled: 0.3, late: 0 };
    world.serve({ name: "a", lanes: 4 });
    await world.pass(50_000);
    const { sent = 0, accepted = 0 } = world.view()?.minute ?? {};
    expect(sent).toBeLessThanOrEqual(world.begun.length);
    expect(accepted).toBeLessThanOrEqual(sent);
    expect(sent).toBeGreaterThan(0.9 * world.begun.length - 50);
  });
});
