import { describe, expect, it } from "vitest";
import { Probe } from "../../../durable-objects/limiter/probe.ts";

const holder = (id: string, in_flight = 0) => ({ id, in_flight, waiting: 3 });

describe("whose request looks whether an endpoint takes any", () => {
  it("is one holder's, and no other's until that has had its time", () => {
    const probe = new Probe();
    expect(probe.concurrentOf(holder("1", 2), "a", { now: 0, isNew: false, isPaused: true })).toBe(3);
    expect(probe.concurrentOf(holder("2"), "a", { now: 100, isNew: false, isPaused: true })).toBe(0);
    expect(probe.concurrentOf(holder("1"), "b", { now: 200, isNew: false, isPaused: true })).toBe(0);
    expect(probe.concurrentOf(holder("1"), "b", { now: 10_100, isNew: false, isPaused: false })).toBe(1);
  });

  it("is that of a run that comes new, as long as the other one cannot have looked", () => {
    const probe = new Probe();
    probe.concurrentOf(holder("1"), "a", { now: 0, isNew: false, isPaused: true });
    expect(probe.concurrentOf(holder("2"), "b", { now: 100, isNew: true, isPaused: true })).toBe(1);
    expect(probe.concurrentOf(holder("1"), "a", { now: 200, isNew: false, isPaused: true })).toBe(0);
    expect(probe.concurrentOf(holder("3"), "c", { now: 300, isNew: true, isPaused: true })).toBe(0);
    const looking = new Probe();
    looking.concurrentOf(holder("1"), "a", { now: 0, isNew: false, isPaused: false });
    expect(looking.concurrentOf(holder("2"), "b", { now: 100, isNew: true, isPaused: false })).toBe(0);
  });
});
