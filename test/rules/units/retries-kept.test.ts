import { describe, expect, it } from "vitest";
import { MultiTurnEnv } from "../../../src/environments/kinds/multi-turn-env.ts";
import { type PlayOptions, playUnit } from "../../../src/environments/unit/play-unit.ts";
import { EdgewiseError } from "../../../src/errors/result.ts";
import { type KeptTurn, openKeptState, type OpenedState, StateSnapshot } from "../../../src/rollouts/kept/kept-state.ts";
import type { Client } from "../../../src/rollouts/types.ts";
import { type GroupRewardContext, groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";

const input = { example_id: 0, prompt: [{ role: "user" as const, content: "q" }], task: "t" };

class Talk extends MultiTurnEnv {
  constructor() {
    const mean = groupReward(function mean({ completions }: GroupRewardContext) {
      return completions.map(({ length }) => length);
    });
    super({ dataset: async function* () {}, maxTurns: 3, rubric: new Rubric([mean]) });
  }
  override envResponse(): string {
    return "go on";
  }
}

/** A model of which calls fail by what infrastructure does: those by their numbers, from 1. */
function model(...failing: number[]): Client & { calls: number } {
  return {
    calls: 0,
    type: "scripted",
    async getResponse({ model: name, onBegin }) {
      onBegin?.();
      if (failing.includes(++this.calls)) throw new EdgewiseError("provider_error", "no");
      const message = { role: "assistant", content: `${this.calls}`, finish_reason: "stop", is_truncated: false, tokens: null } as const;
      return { id: "r", created: 0, model: name, usage: null, message };
    },
  };
}

const play = (client: Client, indices: readonly number[], changes: Partial<PlayOptions>) =>
  playUnit(new Talk(), input, indices, {
    client,
    model: "m",
    sampling_args: {},
    maxRetries: 2,
    independent: false,
    signal: new AbortController().signal,
    deadlineMs: null,
    now: Date.now,
    sleep: async () => undefined,
    random: () => 0,
    ...changes,
  });

describe("further attempts at a rollout", () => {
  it("draw the one that failed again, and no other of its group", async () => {
    const client = model(2);
    const { states } = await play(client, [0, 1, 2], {});
    expect(states?.map(({ error, trajectory }) => [error, trajectory.length])).toEqual([
      [null, 3],
      [null, 3],
      [null, 3],
    ]);
    // Three rollouts of three turns, and the call that failed.
    expect(client.calls).toBe(10);
  });

  it("go on being counted where the rollout is gone on with elsewhere", async () => {
    const base = { input, tools: [] };
    const kept: { text: string; retries: number | undefined }[] = [];
    const onTurn: PlayOptions["onTurn"] = (_index, state, turn: KeptTurn) => {
      const text = new StateSnapshot(state, base, turn).text();
      if (text.ok) kept.push({ text: text.text, retries: turn.retries });
      return kept.length === 1 ? "kept" : "leave";
    };
    // The first call fails; the attempt after it is left between its first two turns.
    const first = await play(model(1), [0], { onTurn });
    expect([first.states, kept.map(({ retries }) => retries)]).toEqual([null, [1, 1]]);
    const opened: OpenedState = openKeptState(kept.at(-1)?.text ?? "", base, null);
    expect(opened.turn?.retries).toBe(1);
    const client = model(1, 2, 3);
    const second = await play(client, [0], { begun: new Map([[0, opened]]) });
    // Two attempts are left of three: the one that goes on, and one more.
    expect([client.calls, second.states?.map(({ error }) => error?.code)]).toEqual([2, ["provider_error"]]);
  });
});
