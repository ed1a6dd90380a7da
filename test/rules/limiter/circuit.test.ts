import { describe, expect, it } from "vitest";
import { Circuit } from "../../../durable-objects/limiter/circuit.ts";
import { sightings } from "../../support/limiting/sightings.ts";

const MISSED = sightings({ missed: 1, over_ms: 100 });

describe("an endpoint where no server is", () => {
  it("is down after three requests of two executors, or over a second, that met none", () => {
    const two = new Circuit();
    two.heard("a", MISSED, 0);
    two.heard("a", MISSED, 10);
    expect(two.downSince).toBeNull();
    two.heard("b", MISSED, 20);
    expect(two.downSince).toBe(-100);
    const one = new Circuit();
    one.heard("a", sightings({ missed: 3, over_ms: 0 }), 1_000);
    expect(one.downSince).toBeNull();
    one.heard("a", MISSED, 2_000);
    expect(one.downSince).toBe(1_000);
  });

  it.each([
    ["an answer", { accepted: 1 }],
    ["a refusal", { rate_limited: 1 }],
    ["an overload", { overloaded: 1 }],
    ["an error of its own", { failed: 1, answered: 1 }],
  ])("is there again with %s", (_, seen) => {
    const circuit = new Circuit();
    for (const executor of ["a", "b", "c"]) circuit.heard(executor, MISSED, 0);
    expect(circuit.downSince).not.toBeNull();
    circuit.heard("a", sightings({ ...seen, missed: 5 }), 50);
    expect(circuit.downSince).toBeNull();
    circuit.heard("b", MISSED, 60);
    expect([circuit.downSince, circuit.takeTurn(100_000)]).toEqual([null, false]);
  });

  it("says nothing of other failures", () => {
    const circuit = new Circuit();
    for (const executor of ["a", "b", "c"]) circuit.heard(executor, sightings({ failed: 9 }), 0);
    expect(circuit.downSince).toBeNull();
  });

  it("is asked by one at a time, after half a second and then after twice as long up to five", () => {
    const circuit = new Circuit();
    for (const executor of ["a", "b", "c"]) circuit.heard(executor, MISSED, 0);
    const asked: number[] = [];
    for (let now = 0; now < 30_000; now += 50) {
      const turns = [circuit.takeTurn(now), circuit.takeTurn(now)];
      expect(turns).not.toEqual([true, true]);
      if (turns.includes(true)) asked.push(now);
    }
    expect(asked).toEqual([500, 1_500, 3_500, 7_500, 12_500, 17_500, 22_500, 27_500]);
  });
});
