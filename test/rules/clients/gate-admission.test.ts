import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Gate } from "../../../src/clients/gate.ts";
import { cpuMsOf } from "../../support/run/cpu-time.ts";

const settle = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

/** Enters and notes its name when admitted. */
function queue(gate: Gate, log: string[], name: string, signal?: AbortSignal): Promise<void> {
  return gate.enter(signal).then(
    () => void log.push(name),
    (reason: unknown) => void log.push(`${name}: ${String(reason)}`),
  );
}

describe("a gate", () => {
  it("admits up to its limit, then first come, first served", async () => {
    const gate = new Gate(2);
    const log: string[] = [];
    for (const name of ["a", "b", "c", "d"]) void queue(gate, log, name);
    await settle();
    expect([log, gate.inFlight, gate.waiting]).toEqual([["a", "b"], 2, 2]);
    gate.leave();
    await settle();
    expect([log.at(-1), gate.inFlight, gate.waiting]).toEqual(["c", 2, 1]);
  });

  it("lets nobody slip in before those who wait", async () => {
    const gate = new Gate(1);
    const log: string[] = [];
    void queue(gate, log, "holder");
    void queue(gate, log, "waiter");
    await settle();
    gate.leave();
    void queue(gate, log, "late");
    await settle();
    expect(log).toEqual(["holder", "waiter"]);
  });

  it("grows at once and shrinks as permits come back", async () => {
    const gate = new Gate(1);
    const log: string[] = [];
    for (const name of ["a", "b", "c", "d", "e"]) void queue(gate, log, name);
    gate.resize(4);
    await settle();
    expect([gate.inFlight, gate.waiting]).toEqual([4, 1]);
    gate.resize(2);
    gate.leave();
    gate.leave();
    await settle();
    expect([log.length, gate.inFlight]).toEqual([4, 2]);
    gate.leave();
    await settle();
    expect([log.length, gate.inFlight]).toEqual([5, 2]);
  });

  it("below 1 has no limit", async () => {
    const gate = new Gate(0);
    await Promise.all(Array.from({ length: 1_000 }, () => gate.enter()));
    expect(gate.inFlight).toBe(1_000);
  });

  it("lets go of those who give up, wherever they stand, and rejects them with their reason", async () => {
    const gate = new Gate(1);
    const log: string[] = [];
    await gate.enter();
    const controllers = ["b", "c", "d"].map((name) => {
      const controller = new AbortController();
      void queue(gate, log, name, controller.signal);
      return controller;
    });
    controllers[1]?.abort("enough");
    await settle();
    expect([log, gate.waiting]).toEqual([["c: enough"], 2]);
    controllers[0]?.abort("me too");
    gate.leave();
    await settle();
    expect([log.slice(1), gate.inFlight, gate.waiting]).toEqual([["b: me too", "d"], 1, 0]);
    await expect(gate.enter(AbortSignal.abort("over"))).rejects.toBe("over");
    expect(gate.inFlight).toBe(1);
  });

  it("refuses a permit that nobody held", () => {
    expect(() => new Gate(1).leave()).toThrow(/nobody held/);
  });

  it("keeps count through any order of entering, leaving, giving up and resizing", async () => {
    const action = fc.oneof(
      fc.constant({ kind: "enter" as const }),
      fc.constant({ kind: "leave" as const }),
      fc.record({ kind: fc.constant("abort" as const), at: fc.nat(20) }),
      fc.record({ kind: fc.constant("resize" as const), to: fc.integer({ min: 1, max: 5 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(action, { maxLength: 60 }), async (actions) => {
        const gate = new Gate(2);
        const controllers: AbortController[] = [];
        let limit = 2;
        let admitted = 0;
        let left = 0;
        let ended = 0;
        for (const each of actions) {
          if (each.kind === "enter") {
            const controller = new AbortController();
            controllers.push(controller);
            gate.enter(controller.signal).then(
              () => admitted++,
              () => ended++,
            );
          } else if (each.kind === "leave" && gate.inFlight > 0) {
            left++;
            gate.leave();
          } else if (each.kind === "abort") controllers[each.at]?.abort("x");
          else if (each.kind === "resize") {
            limit = each.to;
            gate.resize(limit);
          }
          await Promise.resolve();
          await Promise.resolve();
          expect(gate.inFlight).toBe(admitted - left);
          expect(gate.waiting).toBe(controllers.length - admitted - ended);
          if (gate.waiting > 0) expect(gate.inFlight).toBeGreaterThanOrEqual(limit);
        }
      }),
    );
  });

  it("takes as long for the last of a hundred thousand as for the first", async () => {
    const gate = new Gate(1);
    await gate.enter();
    const controllers = Array.from({ length: 100_000 }, () => new AbortController());
    const waits = controllers.map(({ signal }) => gate.enter(signal).catch(() => undefined));
    const taken = await cpuMsOf(async () => {
      for (const controller of controllers.toReversed()) controller.abort("x");
      await Promise.all(waits);
    });
    expect(gate.waiting).toBe(0);
    expect(taken).toBeLessThan(3_000);
  });
});
