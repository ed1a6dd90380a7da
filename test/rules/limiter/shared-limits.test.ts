import { describe, expect, it } from "vitest";
import { jain, LimiterWorld, type RunOfWorld } from "../../support/limiting/limiter-world.ts";

/** Executors as they are shipped and the book of a Limiter, in virtual time: what limits is known, and nobody is ever above it. */

const MINUTE = 60_000;

const runs = (count: number, run: Partial<RunOfWorld> = {}): readonly RunOfWorld[] =>
  Array.from({ length: count }, (_, at) => ({ name: `r${at}`, lanes: 16, ...run }));

/** Mean number of requests in flight while it passes. */
async function used(world: LimiterWorld, ms: number): Promise<number> {
  let [sum, last, open] = [0, world.now, world.open];
  const began = world.now;
  await world.pass(ms, () => {
    sum += open * (world.now - last);
    [last, open] = [world.now, world.open];
  });
  return sum / (world.now - began);
}

describe("requests in flight at once", () => {
  it.each([
    [1, 1, 8],
    [4, 4, 8],
    [16, 8, 40],
    [16, 8, 3],
    [16, 1, 8],
    [2, 2, 1],
  ])("of %i runs at %i executors never exceed the limit of %i, use it, and come to the same for all", async (count, executors, limit) => {
    const world = new LimiterWorld({ executors, given: { concurrent: limit } });
    for (const run of runs(count, { lanes: 8 })) world.serve(run);
    await world.pass(10_000);
    const since = world.now;
    expect(await used(world, MINUTE)).toBeGreaterThan(0.93 * limit);
    expect(world.most).toBe(limit);
    expect(world.begunSince(since).size).toBe(count);
    expect(jain([...world.begunSince(since).values()])).toBeGreaterThan(0.97);
  });

  it("come to the same for all with answers that take long, of which each run has few", async () => {
    const world = new LimiterWorld({ executors: 4, given: { concurrent: 40 } });
    for (const run of runs(16, { lanes: 4, takes: 15_000 })) world.serve(run);
    await world.pass(MINUTE);
    const since = world.now;
    await world.pass(7 * MINUTE);
    expect(jain([...world.begunSince(since).values()])).toBeGreaterThan(0.965);
  });

  it("are given up by nobody who has them open, and go to others as they end", async () => {
    const world = new LimiterWorld({ executors: 2, given: { concurrent: 6 } });
    world.serve({ name: "first", lanes: 10, at: [0], takes: 4_000 });
    await world.pass(5_000);
    expect(world.open).toBe(6);
    world.serve({ name: "second", lanes: 10, at: [1], takes: 4_000 });
    await world.pass(20_000);
    expect([world.inFlight.get("0"), world.inFlight.get("1")]).toEqual([3, 3]);
    expect(world.most).toBe(6);
  });

  it("of a run that comes late to a full endpoint begin before the answers of the others have all come twice", async () => {
    const world = new LimiterWorld({ executors: 4, given: { concurrent: 8 } });
    world.serve({ name: "big", lanes: 20 });
    await world.pass(20_000);
    const since = world.now;
    world.serve({ name: "small", lanes: 5, requests: 5, at: [1] });
    await world.pass(5_000);
    const begun = world.begun.filter(({ run }) => run === "small").map(({ at }) => at - since);
    expect(begun).toHaveLength(5);
    expect(begun[0]).toBeLessThan(1_000);
    expect(begun[4]).toBeLessThan(2_000);
  });

  it("begin at once in a run that comes late where there are many: one is kept for it", async () => {
    const world = new LimiterWorld({ executors: 4, given: { concurrent: 64 } });
    world.serve({ name: "big", lanes: 100, takes: 30_000 });
    await world.pass(20_000);
    expect(world.open).toBe(62);
    world.serve({ name: "small", lanes: 5, requests: 5, at: [1] });
    await world.pass(300);
    expect(world.begunSince(20_000).get("small")).toBe(2);
    expect(world.open).toBe(64);
  });

  it("go to runs by their priority", async () => {
    const world = new LimiterWorld({ executors: 3, given: { concurrent: 8 } });
    world.serve({ name: "heavy", lanes: 20, priority: 3 });
    world.serve({ name: "light", lanes: 20 });
    await world.pass(10_000);
    const since = world.now;
    await world.pass(2 * MINUTE);
    const begun = world.begunSince(since);
    expect((begun.get("heavy") ?? 0) / (begun.get("light") ?? 1)).toBeGreaterThan(2.7);
    expect((begun.get("heavy") ?? 0) / (begun.get("light") ?? 1)).toBeLessThan(3.3);
  });
});

describe("requests of a minute", () => {
  it.each([
    [1, 1, 60],
    [4, 4, 600],
    [16, 8, 60],
    [16, 8, 6_000],
  ])("of %i runs at %i executors never exceed the limit of %i in any minute, use it, and come to the same for all", async (count, executors, limit) => {
    const world = new LimiterWorld({ executors, given: { requests: limit } });
    for (const run of runs(count)) world.serve(run);
    await world.pass(10_000);
    const since = world.now;
    await world.pass(2 * MINUTE);
    const begun = [...world.begunSince(since).values()];
    expect(begun.reduce((sum, each) => sum + each, 0)).toBeGreaterThan(0.95 * 2 * limit);
    expect(world.mostInAMinute).toBeLessThanOrEqual(limit);
    expect(jain(begun)).toBeGreaterThan(0.97);
  });

  it("that were not used for a while are no burst later", async () => {
    const world = new LimiterWorld({ executors: 4, given: { requests: 300 } });
    for (const run of runs(4, { lanes: 1, requests: 3 })) world.serve(run);
    await world.pass(5 * MINUTE);
    for (const run of runs(8)) world.serve(run);
    await world.pass(2 * MINUTE);
    expect(world.mostInAMinute).toBeLessThanOrEqual(300);
  });

  it("of a run that comes late begin soon, and then at its part", async () => {
    const world = new LimiterWorld({ executors: 4, given: { requests: 600 } });
    world.serve({ name: "big", lanes: 40 });
    await world.pass(20_000);
    const since = world.now;
    world.serve({ name: "small", lanes: 5, requests: 5, at: [2] });
    await world.pass(5_000);
    const begun = world.begun.filter(({ run }) => run === "small").map(({ at }) => at - since);
    expect(begun[0]).toBeLessThan(500);
    expect(begun[4]).toBeLessThan(2_000);
  });
});

describe("tokens of a minute", () => {
  it("are divided evenly between runs of large and of small requests", async () => {
    const world = new LimiterWorld({ executors: 2, given: { tokens: 120_000 } });
    world.serve({ name: "large", lanes: 16, cost: { input_tokens: 1_500, output_tokens: 500 } });
    world.serve({ name: "small", lanes: 64, cost: { input_tokens: 150, output_tokens: 50 } });
    await world.pass(MINUTE);
    const since = world.now;
    await world.pass(3 * MINUTE);
    const begun = world.begunSince(since);
    const [large, small] = [2_000 * (begun.get("large") ?? 0), 200 * (begun.get("small") ?? 0)];
    expect(jain([large, small])).toBeGreaterThan(0.97);
    expect(large + small).toBeLessThan(3 * 120_000);
    expect(large + small).toBeGreaterThan(3 * 120_000 * 0.9);
  });

  it("bound a request that needs more than a minute has to one after the other", async () => {
    const world = new LimiterWorld({ given: { tokens: 1_000 } });
    world.serve({ name: "huge", lanes: 4, cost: { input_tokens: 2_000, output_tokens: 0 } });
    await world.pass(20 * MINUTE);
    expect(world.begun.length).toBeGreaterThan(5);
    expect(world.begun.length).toBeLessThan(13);
  });
});

describe("caps", () => {
  it("bound those who name them together, and nobody else", async () => {
    const world = new LimiterWorld({ executors: 2, given: { concurrent: 12 } });
    const caps = [{ id: "command/a", limits: { concurrent: 3 } }];
    world.serve({ name: "a", lanes: 10, caps });
    world.serve({ name: "b", lanes: 10, caps: [{ id: "command/a", limits: { concurrent: 5 } }] });
    world.serve({ name: "free", lanes: 20 });
    await world.pass(20_000);
    const since = world.now;
    expect(await used(world, MINUTE)).toBeGreaterThan(11);
    const begun = world.begunSince(since);
    const capped = (begun.get("a") ?? 0) + (begun.get("b") ?? 0);
    // The strictest of the two numbers.
    expect(capped / (begun.get("free") ?? 0)).toBeLessThan(3.4 / 9);
    expect(world.view()?.users.find(({ run }) => run === "free")?.in_flight).toBeGreaterThan(7);
  });

  it("limit only their own where nothing else does", async () => {
    const world = new LimiterWorld({ executors: 1 });
    world.serve({ name: "a", lanes: 10, caps: [{ id: "command/a", limits: { concurrent: 2 } }] });
    world.serve({ name: "free", lanes: 10 });
    await world.pass(5_000);
    expect(world.open).toBe(12);
  });

  it("of a team bound what its runs have together", async () => {
    const world = new LimiterWorld({ executors: 2, teams: { acme: { concurrent: 2 } } });
    world.serve({ name: "acme/1", team: "acme", lanes: 10 });
    world.serve({ name: "acme/2", team: "acme", lanes: 10 });
    world.serve({ name: "other", lanes: 3 });
    await world.pass(20_000);
    expect(
      world
        .view()
        ?.users.map(({ run, in_flight }) => [run, in_flight])
        .sort(),
    ).toEqual([
      ["acme/1", 1],
      ["acme/2", 1],
      ["other", 6],
    ]);
    expect(world.view("acme")?.limits).toEqual([{ kind: "concurrent", limit: 2, source: "given" }]);
    expect(world.view("other")?.limits).toEqual([]);
  });
});

describe("an endpoint that nothing limits", () => {
  it("has each request sent, and nothing written", async () => {
    const world = new LimiterWorld({ executors: 3 });
    for (const run of runs(4)) world.serve(run);
    await world.pass(30_000);
    expect(world.open).toBe(3 * 4 * 16);
    expect(world.writes).toBe(0);
    // Once every two seconds.
    expect(world.exchanges).toBeLessThan(3 * 20);
  });

  it("is begun with carefully where it is a public one", async () => {
    const world = new LimiterWorld({ executors: 2, place: { base_url: "https://api.example.com/v1", api_key_var: "K", model_class: "m" } });
    world.serve({ name: "r", lanes: 200 });
    await world.pass(450);
    // Of 64, two are kept for a run that comes new.
    expect(world.most).toBe(62);
    await world.pass(30_000);
    expect(world.open).toBe(400);
    expect(world.writes).toBe(0);
  });
});
