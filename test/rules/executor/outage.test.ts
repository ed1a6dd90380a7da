import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { RetryWaits } from "../../../src/executor/units/retry-waits.ts";
import { StorageOutage } from "../../../src/executor/units/storage-outage.ts";
import { OVERLOADED_FIRST_MS, OVERLOADED_LAST_MS, RETRY_FIRST_MS, RETRY_LAST_MS } from "../../../src/limits.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { ticketOnRuleRun } from "../../support/run/rule-ticket.ts";

const UNITS = 200;
const LANES = 4;

/** A ticket whose rows cannot be stored from one moment to another; the Run works, so that its lease goes on. */
function troubledTicket(troubled: "put" | "commit") {
  const seen = { calls: 0, attempts: 0, trouble: false };
  const { run, ticket } = ticketOnRuleRun({
    units: UNITS,
    lanes: LANES,
    async answer() {
      seen.calls++;
      await sleep(50);
      return "yes";
    },
    async onPut() {
      if (!seen.trouble || troubled !== "put") return;
      seen.attempts++;
      throw new Error("put: Unspecified error (0)");
    },
    async onCall(name, send) {
      if (name !== "commit" || !seen.trouble || troubled !== "commit") return send();
      seen.attempts++;
      throw new Error("database or disk is full: SQLITE_FULL");
    },
  });
  return { run, ticket, seen };
}

describe("an executor whose rows cannot be stored", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it.each(["put", "commit"] as const)("asks no model until they can, and then none twice: a %s that fails", async (troubled) => {
    const { run, ticket, seen } = troubledTicket(troubled);
    const over = ticket.run();
    await vi.advanceTimersByTimeAsync(400);
    seen.trouble = true;
    // The next segment fails within the time that one is collected.
    await vi.advanceTimersByTimeAsync(1_500);
    expect(seen.attempts).toBeGreaterThan(0);
    const before = seen.calls;
    expect(before).toBeLessThan(UNITS / 2);
    await vi.advanceTimersByTimeAsync(60_000);
    expect(seen.calls).toBe(before);
    // Four a second would be 240.
    expect(seen.attempts).toBeLessThan(80);
    seen.trouble = false;
    await vi.advanceTimersByTimeAsync(30_000);
    await over;
    expect(run.head).toMatchObject({ status: "COMPLETED", done: UNITS });
    expect(seen.calls).toBe(UNITS);
  });

  it("begins nothing that is claimed already while none of its calls is answered", async () => {
    let silent = false;
    let calls = 0;
    const { ticket } = ticketOnRuleRun({
      units: UNITS,
      lanes: LANES,
      async answer() {
        calls++;
        await sleep(50);
        return "yes";
      },
      onCall: async (name, send) => {
        if (name !== "leave" && silent) throw new Error("database or disk is full: SQLITE_FULL");
        return send();
      },
    });
    const over = ticket.run();
    await vi.advanceTimersByTimeAsync(400);
    silent = true;
    await vi.advanceTimersByTimeAsync(1_200);
    const before = calls;
    await vi.advanceTimersByTimeAsync(1_000);
    expect(calls).toBe(before);
    silent = false;
    await vi.advanceTimersByTimeAsync(30_000);
    await over;
    expect(calls).toBe(UNITS);
  });
});

describe("waits after failures", () => {
  const most = (waits: RetryWaits, thrown: unknown, n: number): number[] => Array.from({ length: n }, () => waits.after("commit", thrown));

  it("are drawn from a span that doubles to a bound, for each call by itself, and begin anew after a success", () => {
    const waits = new RetryWaits(() => 1);
    expect(most(waits, null, 7)).toEqual([1, 2, 4, 8, 16, 16, 16].map((times) => Math.min(RETRY_LAST_MS, RETRY_FIRST_MS * times)));
    expect(waits.after("claim", null)).toBe(RETRY_FIRST_MS);
    waits.succeeded("commit");
    expect(waits.after("commit", null)).toBe(RETRY_FIRST_MS);
    expect(new RetryWaits(() => 0).after("commit", null)).toBe(0);
    expect(new RetryWaits(() => 0.5).after("commit", null)).toBe(RETRY_FIRST_MS / 2);
  });

  it("are longer, and never none, when the object says that it is overloaded", () => {
    const overloaded = Object.assign(new Error("Durable Object is overloaded."), { overloaded: true, retryable: true });
    expect(most(new RetryWaits(() => 0), overloaded, 5)).toEqual([1, 2, 4, 8, 8].map((times) => Math.min(OVERLOADED_LAST_MS, OVERLOADED_FIRST_MS * times) / 2));
    expect(most(new RetryWaits(() => 1), overloaded, 1)).toEqual([OVERLOADED_FIRST_MS]);
  });
});

describe("an outage of the storage", () => {
  it("is said once for each reason, and once when rows are committed; one that is over soon is not worth a word", () => {
    const [lines, told]: [string[], string[]] = [[], []];
    let now = 1_000;
    const host = { local: true, now: () => now, log: (line: string) => void lines.push(line) };
    const outage = new StorageOutage(host, "0000abcd", (line) => void told.push(line));
    outage.failed("segment 3", "put: Unspecified error (0)");
    for (let n = 0; n < 9; n++) outage.failed("commit 4", "database or disk is full: SQLITE_FULL");
    expect(lines).toEqual([
      "run 0000abcd: a call failed and is made again (segment 3: put: Unspecified error (0))",
      "run 0000abcd: state disk is full, waiting for room (commit 4: database or disk is full: SQLITE_FULL)",
    ]);
    now += 26_000;
    outage.succeeded("commit 4");
    expect(told).toEqual([]);
    outage.committed();
    outage.committed();
    const end = "Storage did not work for 26 s (database or disk is full: SQLITE_FULL); nothing was begun that could not be stored";
    expect(told).toEqual([end]);
    expect(lines.slice(2)).toEqual([`run 0000abcd: ${end}`]);
    // A lost call between: what comes long after it was no outage.
    outage.failed("beat", "lost");
    now += 500;
    outage.succeeded("beat");
    now += 60_000;
    outage.committed();
    expect(told).toEqual([end]);
  });
});
