import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Gate } from "../../../../src/clients/gate.ts";
import type { Holder } from "../../../../src/executor/limiting/holder.ts";
import type { LimiterLink } from "../../../../src/executor/limiting/limiter-link.ts";
import { ask, outcome } from "../../../support/limiting/asked.ts";
import { limited, linked } from "../../../support/limiting/scripted-limiter.ts";

const open = (link: LimiterLink): Holder =>
  link.open({ id: "h", run: "r", team: "default", kind: "model", priority: 1, caps: [], gate: new Gate(100), passes: () => false });

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("an executor under a share", () => {
  it("begins at last as without a Limiter where that answers nobody for minutes, says so, and keeps to it again when it answers", async () => {
    for (const first of [1, 2]) {
      let silent = false;
      const { link, troubles } = linked((request, nth) => (nth >= first && silent ? "fails" : limited(request, 2)));
      silent = true;
      const holder = open(link);
      const asked = ask(holder, 9);
      await pass(4 * 60_000);
      expect(asked.begun).toBe(first === 1 ? 0 : 2);
      await pass(70_000);
      expect(asked.begun).toBe(9);
      expect(troubles.filter((each) => each.startsWith("gone"))).toHaveLength(1);
      silent = false;
      await pass(70_000);
      const more = ask(holder, 1);
      await pass(10);
      expect(more.begun).toBe(0);
    }
  });
});

describe("exchanges", () => {
  it("stop too after a request of a grant that was over, whether it was sent or given up", async () => {
    for (const isGivenUp of [false, true]) {
      const { link, seen } = linked((request) => limited(request, isGivenUp ? 0 : 1));
      const holder = open(link);
      await pass(300);
      holder.close();
      await pass(2_000);
      const gone = new AbortController();
      const asked = ask(holder, 1, gone.signal);
      await pass(200);
      if (isGivenUp) gone.abort(new Error("enough"));
      else holder.leave(outcome("accepted"));
      await pass(0);
      expect(asked).toEqual(isGivenUp ? { begun: 0, gaveUp: 1 } : { begun: 1, gaveUp: 0 });
      await pass(5_000);
      expect(seen.at(-1)?.request.holders).toEqual([]);
      const { length } = seen;
      await pass(60_000);
      expect(seen).toHaveLength(length);
    }
  });

  it("stop too where all that waited of a grant that was over gave up", async () => {
    const { link, seen } = linked((request) => limited(request, 0));
    const holder = open(link);
    const gone = new AbortController();
    ask(holder, 3, gone.signal);
    await pass(300);
    holder.close();
    await pass(300);
    gone.abort(new Error("enough"));
    await pass(5_000);
    expect(seen.at(-1)?.request.holders).toEqual([]);
  });
});
