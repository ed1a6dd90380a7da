import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { ClaimAnswer, Grant } from "../../../durable-objects/run/protocol.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { ExecutorBudget } from "../../../src/executor/ports.ts";
import { Pacing } from "../../../src/executor/session/pacing.ts";
import type { UnitWork } from "../../../src/executor/session/session-events.ts";
import { UnitTimes } from "../../../src/executor/session/unit-times.ts";
import { CONSUMER_WALL_MS, SLICE_MS, UNIT_DEADLINE_MS } from "../../../src/limits.ts";
import { type TicketOptions, ticketOnRuleRun } from "../../support/run/rule-ticket.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const WALL_MS = CONSUMER_WALL_MS - 30_000;
const DEPLOYED: Partial<ExecutorBudget> = { slice: SLICE_MS, wall: WALL_MS, unitDeadline: UNIT_DEADLINE_MS };

/** One deployed executor of five requests, until the platform would end it; `seconds`: what the model takes for each answer, by their number. */
async function invocation(seconds: (answer: number) => number, changes: Partial<TicketOptions> = {}) {
  let asked = 0;
  let most = 0;
  let inFlight = 0;
  const answer = async (): Promise<string> => {
    inFlight++;
    most = Math.max(most, inFlight);
    await sleep(seconds(asked++) * 1_000);
    inFlight--;
    return "yes";
  };
  const { run, ticket } = ticketOnRuleRun({ units: 6, lanes: 5, answer, budget: DEPLOYED, ...changes });
  let endedAt: number | null = null;
  const begin = performance.now();
  const over = ticket.run().then(() => {
    endedAt = performance.now() - begin;
  });
  await vi.advanceTimersByTimeAsync(WALL_MS);
  const cut = endedAt === null;
  ticket.stop("abort");
  await vi.advanceTimersByTimeAsync(10_000);
  await over;
  const { done, totals, pending } = run.head;
  return { asked, most, cut, done, pending, errors: totals.errors, rollouts: totals.rollouts };
}

describe("an executor whose invocation ends", () => {
  it.each([
    [59, 1],
    [50, 1],
    [25, 2],
    [12, 5],
  ])("has rows for all it asks a model of %i s, with 64 rollouts per example: %i units", async (seconds, units) => {
    const result = await invocation(() => seconds, { rollouts: 64 });
    expect(result).toMatchObject({ asked: 64 * units, rollouts: 64 * units, done: units, pending: 6 - units, errors: {}, cut: false });
  });

  it("keeps its requests busy meanwhile", async () => {
    const { asked, cut } = await invocation(() => 10, { rollouts: 4, units: 200 });
    // Five at a time, ten seconds each, while units are begun.
    expect(asked).toBeGreaterThanOrEqual((5 * SLICE_MS) / 10_000);
    expect(cut).toBe(false);
  });

  it("begins nothing behind units of which none has ended, where what the oldest has done says that it would not be in time", async () => {
    // Its last two rollouts leave room at 380 s; the first unit ends after 570 s.
    expect(await invocation(() => 190, { rollouts: 12 })).toMatchObject({ asked: 12, done: 1, errors: {}, cut: false });
  });

  it("goes on with short units when one of them took long", async () => {
    const { done, cut } = await invocation((answer) => (answer === 0 ? 300 : 2), { units: 1_000, lanes: 1 });
    expect(done).toBeGreaterThan(200);
    expect(cut).toBe(false);
  });

  it("begins a unit that takes longer than an invocation at its start only, and has timeout rows of what is not done", async () => {
    const result = await invocation(() => 200, { rollouts: 64 });
    expect(result).toMatchObject({ done: 1, rollouts: 64, pending: 5, cut: false });
    expect(Object.keys(result.errors)).toEqual(["timeout"]);
  });
});

describe("a unit that is to be alone", () => {
  const grant = { lanes: 5, requests: 5, config: { rollouts_per_example: 1 } } as Grant;
  const holding = { lanes: 5, requests: 5 };
  const next = { unit: 0, block: { alone: true } } as UnitWork;
  const ordinary = { unit: 0, block: { alone: false } } as UnitWork;
  const wall = { endsAt: 100_000, deadline: 80_000 };

  it("is left to another executor where it was waited for and the time that a unit may take is over", () => {
    const pacing = new Pacing(grant, wall, new UnitTimes());
    expect(pacing.fits(holding, 0, next)).toBe(true);
    // Nobody waited for it yet, and there is time; then somebody did, and there is none.
    expect([pacing.fits(holding, 5_000, next), pacing.fits(holding, 20_000, next), pacing.fits(holding, 20_001, next)]).toEqual([true, true, false]);
    expect(pacing.fits(holding, 20_001, ordinary)).toBe(true);
  });

  it("is begun late by an executor that has waited for nobody", () => {
    const pacing = new Pacing(grant, wall, new UnitTimes());
    expect(pacing.fits(holding, 50_000, next)).toBe(true);
  });
});

describe("calls on the Run for a slow model", () => {
  const callsOf = async (budget: Partial<ExecutorBudget>): Promise<{ readonly done: number; readonly commits: number; readonly blocks: number }> => {
    let commits = 0;
    let blocks = 0;
    let asked = 0;
    // Lanes that are out of step, as they are after a while.
    const seconds = (): number => (asked++ < 5 ? 6 * asked : 30);
    const onCall: TicketOptions["onCall"] = async (name, send) => {
      if (name === "commit") commits++;
      const answer = await send();
      if (name === "claim" && (answer as ClaimAnswer).kind === "block") blocks++;
      return answer;
    };
    const { done } = await invocation(seconds, { units: 100, onCall, budget });
    return { done, commits, blocks };
  };

  it("are fewer deployed: segments are closed and blocks are claimed by the time of a unit, up to a bound", async () => {
    const { done, commits, blocks } = await callsOf(DEPLOYED);
    expect(done).toBe(100);
    // A unit ends every 6 s, and is kept back for a minute at most.
    expect(commits).toBeLessThanOrEqual(14);
    // One is for ten units, but for the first, and the last ones, of which a fair share is less.
    expect(blocks).toBeLessThanOrEqual(20);
  });

  it("come as soon as ever locally, where somebody watches", async () => {
    const { done, commits } = await callsOf({});
    expect([done, commits]).toEqual([100, 100]);
  });
});

describe("what units take", () => {
  it("is unknown at first, and then their mean and twice what they differ by", () => {
    const times = new UnitTimes();
    const wall = { endsAt: 1_000, deadline: null };
    expect([times.areKnown, times.fit(wall, 0), times.fit(wall, 0, 1_001)]).toEqual([false, true, false]);
    times.took(500);
    expect([times.fit(wall, 500, 1_001), times.fit(wall, 501)]).toEqual([true, false]);
    times.took(600);
    expect([times.mean, times.fit(wall, 470), times.fit(wall, 471)]).toEqual([510, true, false]);
  });

  it("is no more than the deadline of a unit: one that is longer ends by that", () => {
    const times = new UnitTimes();
    times.took(5_000);
    expect([times.fit({ endsAt: 1_000, deadline: 900 }, 100), times.fit({ endsAt: 1_000, deadline: 900 }, 101)]).toEqual([true, false]);
  });
});
