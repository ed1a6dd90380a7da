import { describe, expect, it } from "vitest";
import { Isolate } from "../../../src/executor/session/isolate.ts";

const LIFE_MS = 30_000;
const PATIENCE_MS = 60_000;

function isolate() {
  const clock = { now: 1_000 };
  const one = new Isolate(() => clock.now, PATIENCE_MS);
  return { clock, seat: () => one.seat(LIFE_MS) };
}

describe("a unit that may kill", () => {
  it("waits until nobody else in its isolate has anything open, and nobody begins beside it", () => {
    const { clock, seat } = isolate();
    const [suspected, other] = [seat(), seat()];
    other.begins(false);
    other.has(1, false);
    expect(suspected.holdsBack(true)).toBe(true);
    // What is to be alone goes first from then on.
    expect(other.holdsBack(false)).toBe(true);
    other.has(0, false);
    expect(suspected.holdsBack(true)).toBe(false);
    suspected.begins(true);
    expect([other.holdsBack(false), suspected.isBeside]).toEqual([true, false]);
    suspected.has(0, false);
    // Now it is the others' turn, before the next one.
    expect([other.holdsBack(false), suspected.holdsBack(true)]).toEqual([false, true]);
    clock.now += 1_000;
    expect(suspected.holdsBack(true)).toBe(false);
  });

  it("keeps its place until it is committed: until then it may still be blamed", () => {
    const { seat } = isolate();
    const [suspected, other] = [seat(), seat()];
    suspected.holdsBack(true);
    suspected.begins(true);
    suspected.has(1, false);
    expect(other.holdsBack(false)).toBe(true);
    suspected.has(0, false);
    expect(other.holdsBack(false)).toBe(false);
  });

  it("begins beside the others when they take long, and says so", () => {
    const { clock, seat } = isolate();
    const [suspected, other] = [seat(), seat()];
    other.begins(false);
    for (let waited = 0; waited <= PATIENCE_MS; waited += 10_000) {
      other.has(1, false);
      expect(suspected.holdsBack(true)).toBe(true);
      clock.now += 10_000;
    }
    other.has(1, false);
    expect(suspected.holdsBack(true)).toBe(false);
    suspected.begins(true);
    expect(suspected.isBeside).toBe(true);
    suspected.has(0, false);
    expect(suspected.isBeside).toBe(false);
  });

  it("has another one begin beside it only when its Run had the time to hear of it", () => {
    const { clock, seat } = isolate();
    const [slow, impatient] = [seat(), seat()];
    slow.begins(true);
    const holdsOn = (ms: number): boolean => {
      clock.now += ms;
      slow.has(1, false);
      return impatient.holdsBack(true);
    };
    for (let waited = 0; waited <= PATIENCE_MS; waited += 10_000) expect(holdsOn(10_000)).toBe(true);
    expect([slow.isBeside, holdsOn(1), slow.isBeside]).toEqual([false, true, true]);
    expect([holdsOn(LIFE_MS - 1), holdsOn(1)]).toEqual([true, false]);
    // The next one of its grant is alone again.
    slow.has(0, false);
    slow.begins(true);
    expect(slow.isBeside).toBe(false);
  });

  it("is one at a time, in the order in which they came", () => {
    const { clock, seat } = isolate();
    const [first, second] = [seat(), seat()];
    expect(first.holdsBack(true)).toBe(false);
    clock.now += 1;
    expect(second.holdsBack(true)).toBe(true);
    first.begins(true);
    first.has(1, false);
    expect(second.holdsBack(true)).toBe(true);
  });
});

describe("a grant whose executor ended without a word", () => {
  it("is waited for no longer than its lease", () => {
    const { clock, seat } = isolate();
    const [suspected, dead] = [seat(), seat()];
    dead.begins(false);
    dead.has(1, false);
    expect(suspected.holdsBack(true)).toBe(true);
    clock.now += LIFE_MS;
    expect(suspected.holdsBack(true)).toBe(false);
  });

  it("and one that is over or has nothing to begin any more holds up nobody", () => {
    const { seat } = isolate();
    const [gone, drained, other] = [seat(), seat(), seat()];
    gone.holdsBack(true);
    gone.leave();
    drained.holdsBack(true);
    drained.has(0, false);
    expect(other.holdsBack(false)).toBe(false);
  });
});
