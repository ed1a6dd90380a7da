import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

type Row = Readonly<Record<string, unknown>>;

/** A results folder of ours with single rollouts, which pass where `passes` says; `rest`: further keys of its metadata. */
export function writeScoredFolder(cwd: string, name: string, examples: number, passes: (example: number) => boolean, rest: Row = {}): void {
  mkdirSync(join(cwd, name));
  const rows = Array.from({ length: examples }, (_, i) => ({
    example_id: i,
    prompt: [{ role: "user", content: `question ${i}` }],
    completion: [{ role: "assistant", content: `${name} says ${i}` }],
    answer: String(i),
    reward: passes(i) ? 1 : 0,
    error: null,
    info: { level: i % 2 === 0 ? "even" : "odd", passage: i % 5 },
    metrics: { length: i + name.length },
    rollout_index: 0,
  }));
  writeFileSync(join(cwd, name, "results.jsonl"), `${rows.map((row) => JSON.stringify(row)).join("\n")}\n`);
  const own = { run_id: "0a1b2c3d", status: "COMPLETED", env_digest: `v2:${"a".repeat(64)}`, ...(rest.edgewise as Row | undefined) };
  writeFileSync(
    join(cwd, name, "metadata.json"),
    JSON.stringify({
      env_id: "e",
      model: `model-${name}`,
      num_examples: examples,
      rollouts_per_example: 1,
      avg_metrics: { length: 1 },
      ...rest,
      edgewise: own,
    }),
  );
}
