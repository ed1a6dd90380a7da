import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Gate } from "../../../../src/clients/gate.ts";
import type { Holder } from "../../../../src/executor/limiting/holder.ts";
import type { LimiterLink } from "../../../../src/executor/limiting/limiter-link.ts";
import { ask, outcome } from "../../../support/limiting/asked.ts";
import { limited, linked, OPEN } from "../../../support/limiting/scripted-limiter.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const pass = (ms: number): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

describe("a run that keeps to a bound with others", () => {
  const CAPS = [{ id: "command/default/a-1", limits: { concurrent: 1 } }];
  const open = (link: LimiterLink, caps: typeof CAPS = []): Holder =>
    link.open({
      id: caps.length > 0 ? "capped" : "free",
      run: "r",
      team: "default",
      kind: "model",
      priority: 1,
      caps,
      gate: new Gate(100),
      passes: () => false,
    });
  const capped = (link: LimiterLink): Holder => open(link, CAPS);

  it("begins nothing before the Limiter has heard of it, though nothing limits the others, and is heard of at once", async () => {
    const isCapped = ({ holders }: { readonly holders: readonly { readonly caps: readonly unknown[] }[] }) => holders.some(({ caps }) => caps.length > 0);
    const { link, seen } = linked((request, nth) => ({ after: nth === 2 ? 300 : 1, answer: isCapped(request) ? limited(request, 1) : OPEN }));
    const free = open(link);
    await pass(1_990);
    // An exchange that does not name it is under way.
    await pass(110);
    expect(seen).toHaveLength(2);
    const asked = ask(capped(link), 3);
    const others = ask(free, 3);
    await pass(190);
    expect([asked.begun, others.begun]).toEqual([0, 3]);
    await pass(100);
    expect(seen).toHaveLength(3);
    expect(asked.begun).toBe(1);
  });

  it("waits again where it comes back, and where the Limiter says nothing", async () => {
    let lost = false;
    const { link } = linked((request) => (lost ? "lost" : request.holders.length === 2 ? limited(request, 1) : OPEN));
    open(link);
    const holder = capped(link);
    const asked = ask(holder, 1);
    await pass(200);
    expect(asked.begun).toBe(1);
    holder.close();
    holder.leave(outcome("accepted"));
    await pass(1_000);
    lost = true;
    const later = ask(holder, 1);
    await pass(20_000);
    expect(later.begun).toBe(0);
    lost = false;
    await pass(6_000);
    expect(later.begun).toBe(1);
  });

  it("goes on where the Limiter refuses to say anything", async () => {
    const { link } = linked(() => ({ kind: "refused", message: "another version" }));
    const asked = ask(capped(link), 3);
    await pass(100);
    expect(asked.begun).toBe(3);
  });
});
