import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { Report } from "../../../durable-objects/run/protocol.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { ticketOnRuleRun } from "../../support/run/rule-ticket.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NEVER = new Promise<never>(() => undefined);

describe("an executor whose commit is not answered", () => {
  it("commits again, and ends though the first answer came late and the second was lost", async () => {
    let commits = 0;
    const { run, ticket } = ticketOnRuleRun({
      units: 4,
      lanes: 4,
      answer: async () => "yes",
      async onCall(name, send) {
        if (name !== "commit") return send();
        const answer = send();
        const nth = ++commits;
        // The first is given up before its answer comes; the second is under way then.
        if (nth === 1) await sleep(15_500);
        if (nth === 2) {
          await sleep(1_000);
          throw new Error("the answer was lost");
        }
        return answer;
      },
    });
    let over = false;
    void ticket.run().then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(20_000);
    expect(over).toBe(true);
    expect(commits).toBe(3);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 4, totals: { rollouts: 4 } });
    expect(run.ledger.tickets()).toEqual([]);
  });

  it("gives up when its lease ends, and holds nothing back", async () => {
    const { run, ticket } = ticketOnRuleRun({
      units: 4,
      lanes: 4,
      answer: async () => "yes",
      onCall: async (name, send) => (name === "commit" || name === "beat" ? NEVER : send()),
    });
    let over = false;
    void ticket.run().then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(run.timing.lease);
    expect(over).toBe(true);
    expect(run.head).toMatchObject({ done: 0, pending: 4 });
  });
});

describe("an executor whose claim is not answered", () => {
  it("asks again under the same number, and runs no unit twice", async () => {
    let claims = 0;
    const asked: string[] = [];
    const { run, ticket } = ticketOnRuleRun({
      units: 6,
      lanes: 2,
      async answer() {
        asked.push("call");
        return "yes";
      },
      async onCall(name, send) {
        const answer = send();
        if (name === "claim" && claims++ % 2 === 0) throw new Error("the answer was lost");
        return answer;
      },
    });
    const over = ticket.run();
    await vi.advanceTimersByTimeAsync(9_000);
    await over;
    expect(asked).toHaveLength(6);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 6 });
  });
});

describe("an executor whose examples have several rollouts", () => {
  it("says with its beats and claims how many have finished while the others are under way, and not those that are committed", async () => {
    const finished: (number | undefined)[] = [];
    let asked = 0;
    const { run, ticket } = ticketOnRuleRun({
      units: 1,
      lanes: 3,
      rollouts: 3,
      async answer() {
        // The first at once, the second after 3 s, the third after 6 s.
        await sleep(3_000 * asked++);
        return "yes";
      },
      async onCall(name, send, request) {
        if (name === "beat" || name === "claim") finished.push((request as Report).vitals.finished);
        return send();
      },
    });
    const over = ticket.run();
    await vi.advanceTimersByTimeAsync(20_000);
    await over;
    expect([...new Set(finished)].slice(0, 3)).toEqual([0, 1, 2]);
    expect(finished).not.toContain(undefined);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 1 });
  });
});
