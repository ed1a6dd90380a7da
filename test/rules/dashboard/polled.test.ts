import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Asked } from "../../../src/dashboard/api/ask.ts";
import { UNREACHABLE } from "../../../src/dashboard/api/problem.ts";
import { Polled } from "../../../src/dashboard/live/polled.ts";

let visible = true;
let changed: () => void = () => undefined;
let answer: () => Asked<number> = () => ({ ok: true, value: asked });
let asked = 0;
const polled = (): Polled<number> =>
  new Polled(
    async () => {
      asked += 1;
      return answer();
    },
    {
      isVisible: () => visible,
      listen: (listener) => {
        changed = listener;
        return () => undefined;
      },
    },
  );

beforeEach(() => {
  vi.useFakeTimers();
  [visible, asked, answer] = [true, 0, () => ({ ok: true, value: asked })];
});
afterEach(() => vi.useRealTimers());

describe("an answer that changes", () => {
  it("is asked for once for each version, no more often than every two seconds", async () => {
    const each = polled();
    each.want("1");
    await vi.advanceTimersByTimeAsync(0);
    for (let version = 2; version < 20; version++) {
      each.want(String(version));
      await vi.advanceTimersByTimeAsync(100);
    }
    await vi.advanceTimersByTimeAsync(2_000);
    expect([asked, each.value.value]).toEqual([2, 2]);
    each.want("19");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(2);
    each.close();
  });

  it("stays where a later question fails, and is asked for again by itself", async () => {
    const each = polled();
    each.want("1");
    await vi.advanceTimersByTimeAsync(0);
    answer = () => ({ ok: false, problem: UNREACHABLE });
    each.want("2");
    await vi.advanceTimersByTimeAsync(2_000);
    expect([each.value.value, each.problem.value]).toEqual([1, UNREACHABLE]);
    answer = () => ({ ok: true, value: 7 });
    await vi.advanceTimersByTimeAsync(5_000);
    expect([each.value.value, each.problem.value]).toEqual([7, null]);
    each.close();
  });

  it("is not asked for while nobody looks, nor after it is closed", async () => {
    const each = polled();
    visible = false;
    each.want("1");
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(0);
    visible = true;
    changed();
    await vi.advanceTimersByTimeAsync(0);
    expect(asked).toBe(1);
    each.want("2");
    each.close();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(asked).toBe(1);
  });
});
