import { settled } from "../http-run.ts";

/** An evaluation of so many rows, handed in as a client does: a grid is filled in seconds, without a model. */
export interface PushedRows {
  readonly url: string;
  readonly examples: number;
  readonly rollouts: number;
  /** Characters of each answer; absent = 600. */
  readonly characters?: number;
}

const BATCH_ROWS = 5_000;
const AT_ONCE = 4;
const LOOK_MS = 100;
const CODES = ["rate_limited", "timeout", "environment_error"];
const LEVELS = ["easy", "medium", "hard"];
const WORDS = "the answer is found by adding what both of them have and taking away what neither of them wants to give".split(" ");

/** Gives its id, once it has settled. */
export async function pushRows({ url, examples, rollouts, characters = 600 }: PushedRows): Promise<string> {
  const made = { name: `grid of ${examples * rollouts} rows`, environments: [{ id: "elsewhere" }], model_name: "m", tags: [], metadata: {} };
  const { evaluation_id: id } = (await post(`${url}/api/v1/evaluations/`, JSON.stringify(made))) as { evaluation_id: string };
  const rows = examples * rollouts;
  let next = 0;
  const send = async (): Promise<void> => {
    for (let from = next; from < rows; from = next) {
      next = Math.min(rows, from + BATCH_ROWS);
      const samples = Array.from({ length: next - from }, (_, index) => rowText(from + index, rollouts, characters));
      await post(`${url}/api/v1/evaluations/${id}/samples`, `{"samples":[${samples.join(",")}]}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, send));
  await post(`${url}/api/v1/evaluations/${id}/finalize`, "{}");
  await settled(url, id, LOOK_MS);
  return id;
}

/** Numbers of a row follow from its own: any two of the same number are the same row. */
function rowText(row: number, rollouts: number, characters: number): string {
  const example = Math.floor(row / rollouts);
  const drawn = (Math.imul(row + 1, 2_654_435_761) >>> 0) / 2 ** 32;
  const isRight = drawn > 0.4;
  const code = drawn < 0.03 ? CODES[row % CODES.length] : undefined;
  const words = Array.from({ length: Math.ceil(characters / 5) }, (_, word) => WORDS[(row * 7 + word * 3) % WORDS.length]).join(" ");
  return JSON.stringify({
    example_id: example,
    rollout_index: row % rollouts,
    prompt: [
      { role: "system", content: "Answer in one number." },
      { role: "user", content: `Question ${example}: how many are there, if ${words.slice(0, 120)}?` },
    ],
    completion: [{ role: "assistant", content: `${words.slice(0, characters)}\n\nThe answer is ${Math.round(drawn * 1000)}.` }],
    answer: String(example % 1000),
    info: { level: LEVELS[example % LEVELS.length], source: example % 7 },
    reward: isRight && code === undefined ? 1 : 0,
    error: code === undefined ? null : { error: "ModelError", code, error_chain_repr: `${code}: the server said so`, error_chain_str: code },
    metrics: { exact: isRight ? 1 : 0, length_penalty: Math.round(drawn * 10_000) / 10_000, judged: Math.round(drawn * 5) },
    token_usage: { input_tokens: 60 + (example % 40), output_tokens: 100 + Math.round(drawn * 400) },
    usage_cost: { input_usd: 0.000_01, output_usd: Math.round(drawn * 1000) / 1e6, total_usd: 0.000_01 + Math.round(drawn * 1000) / 1e6 },
    timing: { generation_ms: Math.round(drawn * 5_000), scoring_ms: 3, total_ms: Math.round(drawn * 5_000) + 3 },
    is_truncated: drawn > 0.98,
    stop_condition: "has_final_answer",
  });
}

async function post(url: string, body: string): Promise<unknown> {
  const response = await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${(await response.text()).slice(0, 500)}`);
  return response.json();
}
