import { describe, expect, it } from "vitest";
import { SegmentBuffer } from "../../../r2-layout/segment.ts";
import { IsolateBytes } from "../../../src/executor/isolate-bytes.ts";
import { LooseRollouts } from "../../../src/executor/units/loose-rollouts.ts";
import { SavedRows } from "../../../src/executor/units/saved-rows.ts";
import { StateSnapshot } from "../../../src/rollouts/kept/kept-state.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import { MIB } from "../../../src/limits.ts";

const input = { example_id: 0, prompt: [{ role: "user" as const, content: "2+2" }], task: "t", answer: "4" };
const base = { input, tools: [], terms: "{}" };
const SIZE = 10_000;

function stateWith(characters: number) {
  const state = createState(input, { client: null, model: "m", samplingArgs: {}, tools: [], now: 0 });
  return Object.assign(state, { noted: "x".repeat(characters) });
}
const turn = (elapsed: number) => ({ snapshot: new StateSnapshot(stateWith(SIZE), base, { prompt: null, elapsed_ms: elapsed }), elapsed });

describe("what is kept of rollouts counts for the memory of their isolate", () => {
  const opened = () => new IsolateBytes(MIB).open({ now: () => 0, sleep: () => new Promise(() => undefined) });

  it("while they are between two turns, the newest of each; until their unit has its rows", () => {
    const bytes = opened();
    const loose = new LooseRollouts(bytes);
    loose.addTurn(0, base, 0, turn(1));
    const one = bytes.held;
    expect(one).toBeGreaterThan(SIZE);
    expect(one).toBeLessThan(1.2 * SIZE);
    loose.addTurn(0, base, 0, turn(2));
    expect(bytes.held).toBe(one);
    loose.addTurn(0, base, 1, turn(2));
    loose.addTurn(3, base, 0, turn(2));
    expect(bytes.held).toBe(3 * one);
    loose.letGo(0);
    expect(bytes.held).toBe(one);
    // What is in a segment is the segment's.
    loose.moveInto(new SegmentBuffer(), [], true, () => undefined);
    expect(bytes.held).toBe(0);
  });

  it("while their states are frozen for scoring, and when they wait for the next grant of their executor", () => {
    const bytes = opened();
    const loose = new LooseRollouts(bytes);
    loose.add(0, base, 0, stateWith(SIZE), "generated");
    // The state is the unit's, which has asked for its room.
    expect(bytes.held).toBe(0);
    loose.freeze(0, null);
    expect(bytes.held).toBeGreaterThan(SIZE);
    const saved = new SavedRows(bytes);
    loose.saveInto(saved);
    expect(bytes.held).toBeGreaterThan(SIZE);
    expect(bytes.held).toBeLessThan(1.2 * SIZE);
    expect(saved.takeRollouts(0, base.terms).size).toBe(1);
    expect(bytes.held).toBe(0);
    saved.keepRollouts(1, base.terms, new Map([[0, "x".repeat(SIZE)]]));
    saved.keepRollouts(1, base.terms, new Map([[0, "x".repeat(SIZE)]]));
    expect(bytes.held).toBe(SIZE);
    saved.clear();
    expect(bytes.held).toBe(0);
  });
});
