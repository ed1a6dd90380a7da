import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Gate } from "../../../../src/clients/gate.ts";
import type { Holder } from "../../../../src/executor/limiting/holder.ts";
import type { LimiterLink } from "../../../../src/executor/limiting/limiter-link.ts";
import { ask, outcome } from "../../../support/limiting/asked.ts";
import { linked, OPEN } from "../../../support/limiting/scripted-limiter.ts";

let ids = 0;
const open = (link: LimiterLink, gate = new Gate(100), passes = () => false): Holder =>
  link.open({ id: `h${++ids}`, run: "r", team: "default", kind: "model", priority: 1, caps: [], gate, passes });

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe("an endpoint that is down", () => {
  const down = (ask: boolean) => ({ ...OPEN, again_ms: 500, valid_ms: 1_000, down: { since_ms: 1_000, ask } });

  it("is asked by one request of the executor whose turn it is, and by all once it has answered", async () => {
    const { link, seen } = linked((_, nth) => down(nth === 2));
    const holder = open(link);
    const asked = ask(holder, 5);
    await pass(400);
    expect(asked.begun).toBe(0);
    await pass(400);
    expect(asked.begun).toBe(1);
    expect(Date.now() - (link.circuit.since ?? 0)).toBeGreaterThanOrEqual(1_000);
    const { length } = seen;
    holder.leave(outcome("accepted"));
    await pass(0);
    expect(asked.begun).toBe(5);
    await pass(100);
    expect(seen.length).toBe(length + 1);
  });

  it("is there again when it answers with an error, and not when a request to it was given up", async () => {
    const { link } = linked((_, nth) => down(nth === 2));
    const holder = open(link);
    const asked = ask(holder, 5);
    await pass(800);
    expect(asked.begun).toBe(1);
    holder.leave({ ...outcome("failed"), answered: false });
    await pass(0);
    expect([asked.begun, link.circuit.isOpen]).toEqual([1, true]);
    const other = linked((_, nth) => down(nth === 2));
    const second = open(other.link);
    const others = ask(second, 5);
    await pass(800);
    second.leave({ ...outcome("failed"), answered: true });
    await pass(0);
    expect([others.begun, other.link.circuit.isOpen]).toEqual([5, false]);
  });

  it("lets those through that wait no longer, and is forgotten when nothing more is heard", async () => {
    let patient = true;
    const { link } = linked(() => down(false));
    const asked = ask(
      open(link, new Gate(10), () => !patient),
      5,
    );
    await pass(5_000);
    expect(asked.begun).toBe(0);
    patient = false;
    await pass(1_100);
    expect(asked.begun).toBe(5);
    const silent = linked((_, nth) => (nth === 1 ? down(false) : "lost"));
    const others = ask(open(silent.link), 5);
    await pass(3_000);
    expect(others.begun).toBe(0);
    await pass(3_000);
    expect(others.begun).toBe(5);
  });
});
