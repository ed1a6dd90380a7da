import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Asked } from "../../../src/dashboard/api/ask.ts";
import { UNREACHABLE } from "../../../src/dashboard/api/problem.ts";
import { Look } from "../../../src/dashboard/live/look.ts";

const EVERY_MS = 1_000;

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A look whose answers a test gives. */
function world() {
  const asked: { answer: (value: Asked<number>) => void; signal: AbortSignal }[] = [];
  let visible = true;
  const listeners = new Set<() => void>();
  const look = new Look<number>(
    (signal) =>
      new Promise((answer, refuse) => {
        signal.addEventListener("abort", () => refuse(signal.reason as Error));
        asked.push({ answer, signal });
      }),
    {
      isVisible: () => visible,
      listen: (changed) => {
        listeners.add(changed);
        return () => void listeners.delete(changed);
      },
    },
    EVERY_MS,
  );
  const settle = (): Promise<void> => vi.advanceTimersByTimeAsync(0).then(() => undefined);
  return {
    look,
    asked,
    answer: async (value: Asked<number>) => {
      asked.at(-1)?.answer(value);
      await settle();
    },
    see: (is: boolean) => {
      visible = is;
      for (const listener of listeners) listener();
    },
    listeners,
  };
}

describe("what a page looks at now and then", () => {
  it("is asked again after its time, and not while nobody sees it", async () => {
    const { look, asked, answer, see } = world();
    void look.refresh();
    await answer({ ok: true, value: 1 });
    expect([look.value.value, look.isLoading.value]).toEqual([1, false]);
    await vi.advanceTimersByTimeAsync(EVERY_MS);
    expect(asked).toHaveLength(2);
    await answer({ ok: true, value: 2 });
    see(false);
    await vi.advanceTimersByTimeAsync(100 * EVERY_MS);
    expect([asked.length, look.value.value]).toEqual([2, 2]);
    see(true);
    expect(asked).toHaveLength(3);
  });

  it("stays as it was, with the reason, where a later look fails, and is looked at again", async () => {
    const { look, asked, answer } = world();
    void look.refresh();
    await answer({ ok: true, value: 1 });
    void look.refresh();
    await answer({ ok: false, problem: UNREACHABLE });
    expect([look.value.value, look.problem.value]).toEqual([1, UNREACHABLE]);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(asked).toHaveLength(3);
    await answer({ ok: true, value: 3 });
    expect([look.value.value, look.problem.value]).toEqual([3, null]);
  });

  it("is what a change answered, whatever a look that was begun before says after it", async () => {
    const { look, asked } = world();
    void look.refresh();
    look.take(7);
    expect(asked[0]?.signal.aborted).toBe(true);
    asked[0]?.answer({ ok: true, value: 1 });
    await vi.advanceTimersByTimeAsync(0);
    expect(look.value.value).toBe(7);
  });

  it("asks nothing more when it is closed", async () => {
    const { look, asked, answer, listeners } = world();
    void look.refresh();
    await answer({ ok: true, value: 1 });
    look.close();
    await vi.advanceTimersByTimeAsync(100 * EVERY_MS);
    await look.refresh();
    expect([asked.length, listeners.size]).toEqual([1, 0]);
  });
});
