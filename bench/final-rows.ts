import { createReadStream } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";

export interface FinalRows {
  readonly rows: number;
  readonly errors: number;
  readonly avg_reward: number;
  readonly bytes: number;
}

/**
 * Reads `results.jsonl` of a run with one rollout per example row by row. Throws where an example is missing, there twice, or in the wrong
 * place.
 */
export async function checkFinalRows(folder: string, examples: number): Promise<FinalRows> {
  let [rows, errors, sum, bytes] = [0, 0, 0, 0];
  const file = createReadStream(join(folder, "results.jsonl"));
  for await (const line of createInterface({ input: file, crlfDelay: Number.POSITIVE_INFINITY })) {
    const { example_id, rollout_index, reward, error } = JSON.parse(line) as { example_id: number; rollout_index?: number; reward: number; error: unknown };
    if (example_id !== rows || (rollout_index ?? 0) !== 0) throw new Error(`row ${rows} is example ${example_id}, rollout ${rollout_index}`);
    rows++;
    if (error !== null) errors++;
    sum += reward;
    bytes += Buffer.byteLength(line) + 1;
  }
  if (rows !== examples) throw new Error(`${rows} rows instead of ${examples}`);
  return { rows, errors, avg_reward: sum / rows, bytes };
}
