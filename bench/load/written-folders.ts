import { closeSync, mkdirSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";

const WORDS = "the answer is found by adding what both of them have and taking away what neither of them wants to give".split(" ");
/** Bytes written at once. */
const STEP = 4 * 1024 * 1024;

/** Results folders as another program leaves them: `folders` of `rows` short rows each, by the thousand. */
export function writeFolders(place: string, folders: number, rows: number): void {
  for (let at = 0; at < folders; at++) {
    const path = join(place, `environment-${at % 20}--model-${at % 7}`, `run-${String(at).padStart(4, "0")}`);
    mkdirSync(path, { recursive: true });
    writeFileSync(join(path, "metadata.json"), metadataText(`environment-${at % 20}`, `model-${at % 7}`, rows));
    const lines = Array.from({ length: rows }, (_, row) => `${JSON.stringify({ ...numbersOf(row), ...conversation([words(at + row, 600)]) })}\n`);
    writeFileSync(join(path, "results.jsonl"), lines.join(""));
  }
}

export interface LongRow {
  readonly messages: number;
  /** Of all messages together, about. */
  readonly bytes: number;
}

/** A folder whose rows are of these sizes; every twentieth message is ten times as long as those around it. */
export function writeLongRows(path: string, rows: readonly LongRow[]): void {
  mkdirSync(path, { recursive: true });
  writeFileSync(join(path, "metadata.json"), metadataText("long", "m", rows.length));
  const file = openSync(join(path, "results.jsonl"), "w");
  try {
    for (const [at, row] of rows.entries()) writeRow(file, at, row);
  } finally {
    closeSync(file);
  }
}

function writeRow(file: number, row: number, { messages, bytes }: LongRow): void {
  const usual = Math.max(40, Math.floor((bytes / messages - 60) / 1.45));
  let part = `${JSON.stringify({ ...numbersOf(row), prompt: [{ role: "user", content: words(row, 400) }] }).slice(0, -1)},"completion":[`;
  for (let at = 1; at < messages; at++) {
    part += `${at === 1 ? "" : ","}${JSON.stringify({ role: at % 2 === 1 ? "assistant" : "user", content: words(row + at, at % 20 === 0 ? 10 * usual : usual) })}`;
    if (part.length < STEP) continue;
    writeSync(file, part);
    part = "";
  }
  writeSync(file, `${part}]}\n`);
}

const conversation = ([answer = ""]: readonly string[]) => ({
  prompt: [{ role: "user", content: words(answer.length, 200) }],
  completion: [{ role: "assistant", content: answer }],
});

const numbersOf = (row: number) => ({ example_id: row, reward: row % 2, metrics: { exact: row % 2 }, token_usage: { input_tokens: 60, output_tokens: 100 } });

const metadataText = (env_id: string, model: string, examples: number): string =>
  JSON.stringify({ env_id, model, num_examples: examples, rollouts_per_example: 1, avg_reward: 0.5, date: "2026-01-01", time_ms: 1000 });

/** Words with a line end now and then. Numbers alone decide which. */
function words(seed: number, characters: number): string {
  const own = Array.from({ length: 64 }, (_, word) => `${WORDS[(seed * 7 + word * 3) % WORDS.length]}${word % 16 === 15 ? "\n" : " "}`).join("");
  return own.repeat(Math.ceil(characters / own.length)).slice(0, characters);
}
