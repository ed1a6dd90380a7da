import { describe, expect, it } from "vitest";
import { createState } from "../../../src/rollouts/state/state.ts";
import type { RolloutInput, Tool } from "../../../src/rollouts/types.ts";
import { scriptedClient } from "../../support/clients/scripted-client.ts";

const INPUT: RolloutInput = {
  example_id: 7,
  task: "t",
  prompt: [
    {
      role: "user",
      content: [
        { type: "text", text: "look and listen" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } },
        { type: "input_audio", input_audio: { data: "AAAA", format: "wav" } },
      ],
    },
  ],
  answer: "a",
  info: { level: 1 },
};
const TOOL: Tool = { name: "own", description: "d", parameters: {} };
const state = (input: RolloutInput = INPUT) =>
  createState(input, { client: scriptedClient("x"), model: "m", samplingArgs: { n: 1 }, tools: [TOOL], now: 1_500 });

describe("a fresh state", () => {
  it("has every field at its beginning", () => {
    expect(state()).toMatchObject({
      model: "m",
      sampling_args: { n: 1 },
      is_completed: false,
      is_truncated: false,
      stop_condition: null,
      prompt_too_long: false,
      timed_out: false,
      tool_defs: [TOOL],
      trajectory: [],
      trajectory_id: expect.stringMatching(/^[0-9a-f]{32}$/),
      completion: null,
      final_env_response: null,
      usage: null,
      reward: null,
      metrics: null,
      advantage: null,
      error: null,
      timing: { generation_ms: 0, scoring_ms: 0, total_ms: 0, start_time: 1.5 },
    });
    expect(state().trajectory_id).not.toBe(state().trajectory_id);
  });

  it("reads and writes its input through prompt, answer, task, info and example_id", () => {
    const fresh = state();
    expect([fresh.prompt, fresh.answer, fresh.task, fresh.info, fresh.example_id]).toEqual([INPUT.prompt, "a", "t", { level: 1 }, 7]);
    fresh.answer = "b";
    fresh.info = { level: 2 };
    expect(fresh.input).toMatchObject({ answer: "b", info: { level: 2 } });
    expect(INPUT).toMatchObject({ answer: "a", info: { level: 1 } });
  });

  it("takes the tools of its example, if it brings some", () => {
    expect(state({ ...INPUT, info: { tool_defs: [{ ...TOOL, name: "other" }] } }).tool_defs.map(({ name }) => name)).toEqual(["other"]);
  });

  it("is JSON but for its client, which may hold a key", () => {
    const fresh = state();
    fresh.found = { pages: [1, 2] };
    const copy = JSON.parse(JSON.stringify(fresh)) as Record<string, unknown>;
    expect(copy).not.toHaveProperty("client");
    expect(copy).toMatchObject({ prompt: INPUT.prompt, found: { pages: [1, 2] }, timing: { start_time: 1.5 } });
    expect(fresh.client?.type).toBe("scripted");
  });
});
