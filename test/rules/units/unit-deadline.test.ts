import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Gate } from "../../../src/clients/gate.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { UnitOutcome } from "../../../src/environments/unit/run-unit.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import type { Client } from "../../../src/rollouts/types.ts";
import { playedUnit } from "../../support/run/played-unit.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const DEADLINE_MS = 60_000;

/** A model that takes so long, under one gate for all units. */
const model = (gate: Gate, ms: number): Client => ({
  type: "scripted",
  async getResponse({ model, signal, onBegin }) {
    await gate.enter(signal);
    try {
      onBegin?.();
      await sleep(ms, signal);
    } finally {
      gate.leave();
    }
    return { id: "r", created: 0, model, usage: null, message: { role: "assistant", content: "4", finish_reason: "stop", is_truncated: false, tokens: null } };
  },
});

const unit = (client: Client, rollouts: number, environment = new SingleTurnEnv({ dataset: async function* () {} })) =>
  playedUnit(environment, client, rollouts, DEADLINE_MS);

const errorsOf = ({ summaries }: UnitOutcome): (string | null)[] => summaries.map(({ error }) => error);

describe("the time of a unit", () => {
  it("begins with its first permit: of units that wait for one another none is late", async () => {
    const client = model(new Gate(2), 25_000);
    const units = Promise.all([unit(client, 4), unit(client, 4), unit(client, 4)]);
    await vi.advanceTimersByTimeAsync(160_000);
    expect((await units).flatMap(errorsOf)).toEqual(Array(12).fill(null));
    expect(vi.getTimerCount()).toBe(0);
  });

  it("is over for what it has begun and not done", async () => {
    const client = model(new Gate(1), 25_000);
    const units = Promise.all([unit(client, 1), unit(client, 4)]);
    // The second has its first permit after 25 s, and ends 60 s later.
    await vi.advanceTimersByTimeAsync(25_000 + DEADLINE_MS - 1_000);
    let over = false;
    void units.then(() => {
      over = true;
    });
    await vi.advanceTimersByTimeAsync(500);
    expect(over).toBe(false);
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await units).map(errorsOf)).toEqual([[null], [null, null, "timeout", "timeout"]]);
    expect(vi.getTimerCount()).toBe(0);
  });

  it("counts before it too for what asks for none: an environment that hangs", async () => {
    class Hanging extends SingleTurnEnv {
      override setupState(): Promise<void> {
        return new Promise(() => undefined);
      }
    }
    const hanging = unit(model(new Gate(1), 1_000), 1, new Hanging({ dataset: async function* () {} }));
    await vi.advanceTimersByTimeAsync(DEADLINE_MS + 5_000);
    expect(errorsOf(await hanging)).toEqual(["timeout"]);
  });
});
