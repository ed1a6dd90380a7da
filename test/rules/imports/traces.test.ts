import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { episodeOf, isEpisode } from "../../../src/imports/traces/episode.ts";
import { rowOfEpisode } from "../../../src/imports/traces/episode-row.ts";
import { readTraceSettings } from "../../../src/imports/traces/trace-settings.ts";
import { summaryOfRow } from "../../../src/metrics/row-summary.ts";
import { findRuns, readInfo } from "../../../src/cli/view/find-runs.ts";
import { ResultsFile } from "../../../src/cli/view/results-file.ts";

const FOLDERS = join(import.meta.dirname, "../../fixtures/verifiers-traces");
const FOLDER = join(FOLDERS, "0.4.0");
const lines = readFileSync(join(FOLDER, "traces.jsonl"), "utf8").trimEnd().split("\n");
const episodes = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
const rowOf = (value: Record<string, unknown>) => rowOfEpisode(episodeOf(value));

describe("traces of verifiers 0.4.0", () => {
  it("are rows with the rewards that the tool printed, their scores as metrics, and tokens", () => {
    expect(episodes.every(isEpisode)).toBe(true);
    const rows = episodes.map(rowOf);
    // Its log: 1.250 eight times, 0.250 twice.
    expect(rows.map(({ reward }) => reward).sort()).toEqual([0.25, 0.25, ...Array<number>(8).fill(1.25)]);
    const wrong = rows.find(({ reward }) => reward === 0.25);
    expect(wrong).toMatchObject({
      example_id: 2,
      answer: "4",
      completion: [{ role: "assistant", content: "I do not know" }],
      metrics: { correct: 0, short: 0.5, reply_length: 13 },
      token_usage: { input_tokens: 21, output_tokens: 7 },
      error: null,
      is_truncated: false,
      stop_condition: "agent_completed",
    });
    expect(wrong?.prompt).toMatchObject([{ role: "system" }, { role: "user" }]);
    expect(summaryOfRow(wrong ?? {}).metrics).toEqual({ correct: 0, short: 0.5, reply_length: 13 });
  });

  it("say in their settings what was run", () => {
    const settings = readTraceSettings("configs/resolved/eval.json", readFileSync(join(FOLDER, "configs/resolved/eval.json"), "utf8"));
    expect(settings).toMatchObject({ env_id: "tiny-sum", model: "scripted", rollouts_per_example: 2, sampling_args: {} });
    const older = readTraceSettings(
      "config.toml",
      'model = "m"\nnum_rollouts = 3\n[taskset]\nid = "gsm8k-v1"\nsplit = "test"\n[sampling]\ntemperature = 0.5\n',
    );
    expect(older).toMatchObject({ env_id: "gsm8k-v1", model: "m", rollouts_per_example: 3, sampling_args: { temperature: 0.5 }, env_args: { split: "test" } });
  });

  it("are shown by the viewer", async () => {
    const [run] = findRuns(FOLDERS, { path: ".", envDir: "", outputsDir: "" });
    expect(run).toMatchObject({ path: FOLDER, envId: "tiny-sum", model: "scripted" });
    expect(readInfo(FOLDER)).toMatchObject({ envId: "tiny-sum", rolloutsPerExample: 2 });
    const file = await ResultsFile.open(FOLDER);
    if (typeof file === "string") throw new Error(file);
    try {
      expect(await file.row(0)).toMatchObject({ row: { reward: expect.any(Number) as number, completion: [{ role: "assistant" }] } });
    } finally {
      await file.close();
    }
  });
});

describe("an episode", () => {
  it("that failed before anything was said has the prompt of its task, its error, and no score", () => {
    const failed = {
      id: "e1",
      task: { data: { idx: 3, prompt: "1 + 1?" } },
      traces: [{ nodes: [], calls: [], rewards: {}, metrics: {}, errors: [{ type: "ProviderError", message: "gone", status_code: 503 }], is_completed: true }],
      errors: [],
    };
    const row = rowOf(failed);
    expect(row).toMatchObject({ example_id: 3, prompt: [{ role: "user", content: "1 + 1?" }], completion: [], reward: 0, metrics: {} });
    expect(summaryOfRow(row)).toMatchObject({ error: "provider_error", reward: 0 });
  });

  it("may be one bare trace, has the last branch, and tool calls as texts", () => {
    const bare = {
      task: { data: { idx: "a" } },
      nodes: [
        { message: { role: "user", content: "hi" }, sampled: false },
        { parent: 0, message: { role: "assistant", content: "first try" }, sampled: true },
        { parent: 0, message: { role: "assistant", content: null, tool_calls: [{ id: "c", type: "function", name: "add", arguments: "{}" }] }, sampled: true },
        { parent: 2, message: { role: "tool", tool_call_id: "c", content: "2" }, sampled: false },
      ],
      rewards: { good: { score: 0.5, weight: 2 }, nobody: null },
      stop_condition: "max_turns",
      calls: [{ finish_reason: "stop", usage: { prompt_tokens: 5, cached_input_tokens: 3, completion_tokens: 2 } }],
    };
    expect(isEpisode(bare)).toBe(true);
    const row = rowOf(bare);
    expect(row).toMatchObject({
      reward: 1,
      metrics: { good: 0.5 },
      is_truncated: true,
      token_usage: { input_tokens: 8, output_tokens: 2 },
      completion: [
        { role: "assistant", tool_calls: ['{"id":"c","name":"add","arguments":"{}"}'] },
        { role: "tool", content: "2" },
      ],
    });
    expect(row).not.toHaveProperty("example_id");
  });

  it("of several agents is the row of the one that is trained", () => {
    const agent = (name: string, trainable: boolean, score: number) => ({ agent: { name, trainable }, nodes: [], rewards: { won: { score, weight: 1 } } });
    expect(rowOf({ id: "e", traces: [agent("judge", false, 0), agent("solver", true, 1)] })).toMatchObject({
      reward: 1,
      info: {
        agents: [
          { name: "judge", reward: 0 },
          { name: "solver", trainable: true },
        ],
      },
    });
  });
});
