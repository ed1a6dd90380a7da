import { describe, expect, it } from "vitest";
import type { Creator } from "../../../src/schedules/state.ts";
import type { EvaluatorDefinition } from "../../../src/training/definition.ts";
import { type EvaluatorEvent, newEvaluator, step } from "../../../src/training/policy.ts";
import type { EvaluatorState } from "../../../src/training/state.ts";

const ADA: Creator = { user: "ada", token: null, owner: false };
const DEFINITION: EvaluatorDefinition = {
  evaluations: [5, 0].map((run_every, index) => ({ name: `e${index}`, run_every, metrics: ["mean_reward"], eval: { env_id: "gsm8k" } })),
  on_older: "keep",
  early_stopping: { metric: "val/e0/mean_reward", mode: "max", min_delta: 0 },
};
const PAUSE: EvaluatorEvent = { type: "paused", by: "ada", reason: "the GPU is gone" };

function stateAfter(...events: readonly EvaluatorEvent[]): { readonly state: EvaluatorState; readonly open: readonly string[] } {
  let state = newEvaluator("loop", "id", DEFINITION, ADA, 1_000);
  for (const event of events) state = step(state, 2_000, event).state;
  return { state, open: state.open.map(({ order }) => `${order.posted.step} ${order.evaluation.name}`) };
}
const posted = (at: number, more: object = {}, known: readonly string[] = []): EvaluatorEvent => ({
  ...{ type: "posted", posted: { step: at, model: "m", ...more }, known, creator: ADA },
});

describe("an evaluator that is paused", () => {
  it("passes over steps that are due, at the end of training too, without a record of them, so that they may be posted again", () => {
    const paused = stateAfter(PAUSE, posted(4), posted(9, { final: true }));
    expect([paused.open, paused.state.paused]).toEqual([[], { at: 2_000, by: "ada", reason: "the GPU is gone" }]);
    expect(step(paused.state, 3_000, posted(4)).notes).toEqual([]);
    expect(stateAfter(PAUSE, posted(4), { type: "resumed" }, posted(4)).open).toEqual(["4 e0"]);
    expect(stateAfter(PAUSE, { type: "resumed" }).state).toEqual(stateAfter().state);
  });

  it("goes on with what was posted before, and keeps its first reason where it is paused twice", () => {
    const { open, state } = stateAfter(posted(4), PAUSE, { ...PAUSE, reason: "again" });
    expect([open, state.paused?.reason]).toEqual([["4 e0"], "the GPU is gone"]);
  });
});

describe("a step that is wanted now", () => {
  it("is due at every evaluation, whatever its cadence, also while the evaluator is paused", () => {
    expect(stateAfter(posted(2)).open).toEqual([]);
    expect(stateAfter(posted(2, { now: true })).open).toEqual(["2 e0", "2 e1"]);
    expect(stateAfter(PAUSE, posted(2, { now: true })).open).toEqual(["2 e0", "2 e1"]);
  });

  it("is not run again where it had its run before", () => {
    expect(stateAfter(posted(4), posted(4, { now: true })).open).toEqual(["4 e0", "4 e1"]);
    expect(stateAfter(posted(4, { now: true }, ["e0", "e1"])).open).toEqual([]);
    expect(stateAfter(posted(4, { now: true }), posted(4)).open).toEqual(["4 e0", "4 e1"]);
  });
});
