import { describe, expect, it } from "vitest";
import { FIRST_SLICE_MS, Fleet } from "../../../durable-objects/dispatcher/fleet.ts";
import { LOOK_AGAIN_MS, type WakeUpPlan, wakeUpsOf } from "../../../durable-objects/dispatcher/wake-ups.ts";
import { QUEUE_CONSUMERS, SLICE_MS } from "../../../src/limits.ts";

const PLAN: WakeUpPlan = { queues: 4, from: 0, expected: 0, fleet: 100, local: false };
const nudges = (...counts: number[]) => counts.map((count, index) => ({ run: `r${index}`, seq: 1, count }));
const sizes = (plan: Partial<WakeUpPlan>, ...counts: number[]): number[] => wakeUpsOf(nudges(...counts), { ...PLAN, ...plan }).map(({ length }) => length);

describe("wake-ups of several queues", () => {
  it("go to them in turn, as many as executors are needed", () => {
    expect([sizes({}, 7), sizes({ from: 3 }, 1), sizes({ from: 3 }, 1, 1)]).toEqual([
      [2, 2, 2, 1],
      [0, 0, 0, 1],
      [1, 0, 0, 1],
    ]);
  });

  it("are no more than there can be consumers, those on their way counted, however many runs ask", () => {
    const many = Array.from({ length: 1_000 }, () => 7);
    expect(sizes({}, ...many)).toEqual([QUEUE_CONSUMERS, QUEUE_CONSUMERS, QUEUE_CONSUMERS, QUEUE_CONSUMERS]);
    expect(sizes({ expected: 4 * QUEUE_CONSUMERS - 3 }, ...many)).toEqual([1, 1, 1, 0]);
  });

  it("reach each local queue, which has one consumer and serves every run", () => {
    expect([sizes({ local: true, queues: 3 }, 1), sizes({ local: true, queues: 1, fleet: 0, expected: 9_999 }, 1)]).toEqual([[1, 1, 1], [1]]);
  });

  it("are one to a local queue at a time, however many runs ask, and none where each has its executor and another to come", () => {
    const many = Array.from({ length: 1_000 }, () => 7);
    const local = (fleet: number, expected: number): number[] => sizes({ local: true, queues: 3, fleet, expected }, ...many);
    expect([local(0, 0), local(2, 9), local(3, 2), local(3, 3)]).toEqual([
      [1, 1, 1],
      [1, 1, 1],
      [1, 1, 1],
      [0, 0, 0],
    ]);
    expect(sizes({ local: true, queues: 3 })).toEqual([0, 0, 0]);
  });

  it("let the first consumer of every queue but one look again after a second, while the fleet is small and more are wanted", () => {
    const again = (plan: Partial<WakeUpPlan>, count: number): (number | undefined)[][] =>
      wakeUpsOf(nudges(count), { ...PLAN, ...plan }).map((share) => share.map(({ again_ms }) => again_ms));
    const first = [LOOK_AGAIN_MS, undefined];
    expect(again({ fleet: 0 }, 8)).toEqual([[undefined, undefined], first, first, first]);
    expect(again({ fleet: 0 }, 4)).toEqual([[undefined], [undefined], [undefined], [undefined]]);
    expect(again({ fleet: 8 }, 8).flat()).toEqual(Array.from({ length: 8 }, () => undefined));
    expect(again({ fleet: 0, local: true }, 8).flat()).toEqual([undefined, undefined, undefined, undefined]);
  });
});

describe("the slice of an executor", () => {
  const MINUTE = 60_000;

  it("is short while the fleet grows, and twice as long with each generation that finds it has not", () => {
    const fleet = new Fleet();
    expect([fleet.heard("a", 0, 9, 1_000), fleet.heard("b", 0, 9, 2_000)]).toEqual([FIRST_SLICE_MS, FIRST_SLICE_MS]);
    // Each ends, and another takes its place: the fleet is as large as before.
    const replaced = (left: string, name: string, at: number): number => {
      fleet.left(left);
      return fleet.heard(name, 0, 9, at);
    };
    expect([replaced("a", "c", 22_000), replaced("b", "d", 27_000), replaced("c", "e", 62_000)]).toEqual([40_000, 50_000, 120_000]);
    for (let at = 70_000; at < 8 * MINUTE; at += 10_000) for (const name of ["d", "e"]) fleet.heard(name, 0, 9, at);
    expect(replaced("d", "f", 8 * MINUTE)).toBe(SLICE_MS);
  });

  it("is short again for those from before, once there are more executors, or lanes are short after a quiet time", () => {
    const fleet = new Fleet();
    fleet.heard("a", 0, 9, 1_000);
    const heard = (at: number, wanted: number): number => fleet.heard("a", at - 1_000, wanted, at);
    for (let at = 10_000; at <= 300_000; at += 10_000) heard(at, 0);
    expect(heard(310_000, 9)).toBe(FIRST_SLICE_MS);
    fleet.heard("b", 0, 9, 320_000);
    expect(heard(330_000, 9)).toBe(FIRST_SLICE_MS);
  });

  it("is as long as before for those that come after executors which are long in ending, silent until they leave", () => {
    const fleet = new Fleet();
    const born = ["a", "b"].map((name) => fleet.heard(name, 0, 9, MINUTE));
    for (const name of ["a", "b"]) fleet.finishes(name, 14 * MINUTE, 2 * MINUTE);
    fleet.left("a");
    const next = fleet.heard("c", 0, 9, 12 * MINUTE);
    expect([...born, next, fleet.size]).toEqual([FIRST_SLICE_MS, FIRST_SLICE_MS, SLICE_MS, 2]);
    // One that never said that it had left counts no longer than an invocation lives.
    fleet.heard("c", 5 * MINUTE, 9, 17 * MINUTE);
    expect(fleet.size).toBe(1);
  });

  it("is not cut short by a Dispatcher that starts anew", () => {
    const fleet = new Fleet();
    expect([fleet.heard("a", 5 * MINUTE, 9, 100 * MINUTE), fleet.heard("b", 9 * MINUTE, 9, 100 * MINUTE)]).toEqual([SLICE_MS, SLICE_MS]);
  });
});

describe("wake-ups that are on their way", () => {
  it("are fewer with each executor that asks for the first time, and forgotten after the longest life of a consumer", () => {
    const fleet = new Fleet();
    fleet.sent(5, 1_000);
    for (const name of ["a", "b", "a"]) fleet.heard(name, 0, 1, 2_000);
    expect([fleet.expected(3_000), fleet.expected(60 * 60_000)]).toEqual([3, 0]);
  });
});
