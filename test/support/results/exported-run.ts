/** A results folder of ours with every kind of row that an export meets: tool calls, errors, empty completions, parts, hostile texts. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const user = (content: string) => ({ role: "user", content });

const usual = {
  task: "tools",
  error: null,
  timing: { generation_ms: 1.5, scoring_ms: 0, total_ms: 2, start_time: 1795274379.5 },
  is_completed: true,
  is_truncated: false,
  stop_condition: "no_tools_called",
  tool_defs: [{ name: "add", description: "adds", parameters: {} }],
  token_usage: { input_tokens: 20, output_tokens: 10, final_input_tokens: 15, final_output_tokens: 5 },
};

export const ROWS: readonly Readonly<Record<string, unknown>>[] = [
  {
    example_id: 0,
    prompt: [{ role: "system", content: "Add." }, user("1 + 1")],
    completion: [
      { role: "assistant", content: "", tool_calls: ['{"id": "call_1", "name": "add", "arguments": "{\\"a\\": 1}"}'], reasoning_content: "hm" },
      { role: "tool", tool_call_id: "call_1", content: "2" },
      { role: "assistant", content: "=2" },
    ],
    answer: "2",
    info: { id: 7, deep: [{ a: null }] },
    ...usual,
    reward: 1,
    metrics: { correct: 1, "num turns": 2 },
    correct: 1,
    "num turns": 2,
    rollout_index: 0,
  },
  {
    example_id: 0,
    prompt: [{ role: "system", content: "Add." }, user("1 + 1")],
    completion: null,
    ...usual,
    reward: 0,
    error: { error: "TimeoutError", error_chain_repr: "TimeoutError('late')", error_chain_str: "TimeoutError", code: "timeout" },
    metrics: {},
    rollout_index: 1,
    error_chain: "TimeoutError('late')",
    long_error_chain: "TimeoutError",
  },
  {
    example_id: 1,
    prompt: [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:," } },
        ],
      },
    ],
    completion: [],
    answer: 42,
    ...usual,
    reward: 0.25,
    metrics: { correct: 0, "num turns": 0.5 },
    correct: 0,
    "num turns": 0.5,
    rollout_index: 0,
    my_column: { x: [1, "zwei"] },
  },
  {
    example_id: 1,
    prompt: [
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:," } },
        ],
      },
    ],
    completion: [{ role: "assistant", content: '=HYPERLINK("http://x")\n"quoted", ünï 🚀' }],
    answer: "-1",
    ...usual,
    reward: -0.5,
    metrics: { correct: 0 },
    correct: 0,
    rollout_index: 1,
  },
];

export const METADATA = {
  env_id: "tools",
  env_args: { difficulty: "hard" },
  model: "openai/small|*model*",
  base_url: "https://api.example.com/v1",
  num_examples: 2,
  rollouts_per_example: 2,
  sampling_args: { n: 1, temperature: 0.5 },
  avg_reward: 0.1875,
  avg_metrics: { correct: 1 / 3, "num turns": 1.25 },
  avg_error: 0.25,
  pass_at_k: { 1: 0.25, 2: 0.5 },
  pass_all_k: { 1: 0.25, 2: 0 },
  pass_threshold: 0.5,
  edgewise: { run_id: "0000abcd", status: "COMPLETED", reward_range: [-1, 1], errored_rollouts: 1 },
};

/** Writes the folder `path`, `change` over its metadata; gives `path`. */
export function writeRun(path: string, change: Readonly<Record<string, unknown>> = {}, rows: readonly object[] = ROWS): string {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "results.jsonl"), rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
  writeFileSync(join(path, "metadata.json"), JSON.stringify({ ...METADATA, ...change }));
  return path;
}
