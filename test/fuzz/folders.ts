import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { collectSecrets } from "../../src/cli/service/local-secrets.ts";
import { Registries } from "../../src/cli/eval-run/wish/registries.ts";
import { ResultsFolder } from "../../src/cli/results/results-folder.ts";
import { isUnfinished, readFolder, rolloutsOfWhole, settingsOfFolder } from "../../src/cli/results/resume-folder.ts";
import { findRuns } from "../../src/cli/view/find-runs.ts";
import { readLogs } from "../../src/cli/view/log-files.ts";
import { plainRun, plainTree } from "../../src/cli/view/plain.ts";
import { planEvals } from "../../src/config/plan/eval-plan.ts";
import { parseTomlText } from "../../src/config/plan/toml-document.ts";
import type { Random } from "../simulation/world/random.ts";
import { damagedFiles, type Files, inFolder, orRefused } from "./damaged-files.ts";

const RUN = "0000abcd";
const text = (content: string): Uint8Array => new TextEncoder().encode(content);
const json = (content: unknown): Uint8Array => text(`${JSON.stringify(content, null, 2)}\n`);

const row = (at: number): string =>
  JSON.stringify({
    example_id: at >> 1,
    rollout_index: at & 1,
    prompt: [{ role: "user", content: `question ${at} ${"é".repeat(at * 7)}` }],
    completion: [{ role: "assistant", content: `answer\n${at}` }],
    answer: "gold",
    reward: at % 2,
    error: at % 5 === 4 ? { error: "ModelError", code: "model_unavailable", message: "HTTP 500" } : null,
    metrics: { correct: at % 2 },
    timing: { generation_ms: 1, scoring_ms: 1, total_ms: 2 },
  });
const ROWS = text(Array.from({ length: 20 }, (_, at) => `${row(at)}\n`).join(""));

const METADATA = {
  env_id: "reverse-text",
  env_args: {},
  model: "openai/small",
  base_url: "http://127.0.0.1:1/v1",
  num_examples: 10,
  rollouts_per_example: 2,
  sampling_args: { temperature: 0.5, n: 1 },
  date: "2026-11-22",
  time_ms: 2_000,
  avg_reward: 0.5,
  avg_metrics: { correct: 0.5 },
  avg_error: 0.2,
  pass_at_k: { "1": 0.5 },
  pass_all_k: {},
  pass_threshold: 0.5,
  usage: { input_tokens: 5, output_tokens: 5 },
  version_info: {},
  state_columns: [],
  path_to_save: "x",
  tools: null,
};
const EDGEWISE = {
  run_id: RUN,
  status: "SUSPENDED",
  env_version: "1.0.0",
  env_digest: "sha256:0",
  env_digests: { "sha256:0": 20 },
  dataset_digest: "0".repeat(64),
  dataset_name: "rows.jsonl",
  extra_env_kwargs: {},
  shuffle_seed: null,
  settings: {},
};
const LOG = text("2026-11-22 02:00:00 - edgewise.run - INFO - 20 of 20 rollouts\n".repeat(40));
const POSITION = json({ version: 1, run_id: RUN, seq: 7, bytes: ROWS.length, final: false });

const FOLDER: Files = new Map([
  [`outputs/evals/reverse-text--openai--small/${RUN}/metadata.json`, json({ ...METADATA, edgewise: EDGEWISE })],
  [`outputs/evals/reverse-text--openai--small/${RUN}/results.jsonl`, ROWS],
  [`outputs/evals/reverse-text--openai--small/${RUN}/eval.log`, LOG],
  [`outputs/evals/reverse-text--openai--small/${RUN}/.edgewise.json`, POSITION],
  ["outputs/evals/reverse-text--openai--small/11112222/metadata.json", json(METADATA)],
  ["outputs/evals/reverse-text--openai--small/11112222/results.jsonl", ROWS],
  ["outputs/evals/reverse-text--openai--small/11112222/env_server.log", LOG],
]);

/** A damaged results folder is shown, gone on with or refused in words; looking changes nothing, and whole rows before the damage stay. */
export async function readsFolder(random: Random): Promise<void> {
  const files = damagedFiles(random, FOLDER);
  await inFolder(files, async (place) => {
    const runs = await orRefused(() => findRuns(place, { path: null, envDir: "environments", outputsDir: "outputs" }));
    plainTree(runs ?? []);
    for (const run of runs ?? []) {
      await plainRun(run, 80);
      await readLogs(run.path);
    }
    for (const id of [RUN, "11112222"]) {
      const path = join(place, "outputs/evals/reverse-text--openai--small", id);
      const found = await orRefused(() => readFolder(path));
      await orRefused(() => rolloutsOfWhole(path, {}));
      if (found === null || typeof found === "string") continue;
      if (found.metadata !== null) settingsOfFolder(found.metadata);
      if (existsSync(join(path, "results.jsonl"))) await orRefused(() => isUnfinished(found, {}));
    }
    for (const [name, bytes] of files) if (!Buffer.from(bytes).equals(readFileSync(join(place, name)))) throw new Error(`${name} was changed by looking at it`);
    await takenOver(join(place, "outputs/evals/reverse-text--openai--small", RUN));
  });
}

/** What a command that goes on leaves of the rows: nothing of the file, or whole ones. */
async function takenOver(path: string): Promise<void> {
  const results = join(path, "results.jsonl");
  const before = existsSync(results) ? readFileSync(results) : Buffer.alloc(0);
  const folder = await orRefused(() => ResultsFolder.open(path, RUN, "continue"));
  await folder?.close();
  const after = existsSync(results) ? readFileSync(results) : Buffer.alloc(0);
  if (!before.subarray(0, after.length).equals(after)) throw new Error("rows were changed by going on");
  if (after.length < before.length && after.length > 0 && after.at(-1) !== 0x0a) throw new Error(`a row was cut at byte ${after.length} of ${before.length}`);
}

const CONFIG = `model = "m"\nnum_examples = 5\n[[eval]]\nenv_id = "gsm8k"\n[eval.env_args]\nsplit = "test"\n[[ablation]]\nenv_id = "arithmetic"\n[ablation.sweep]\ntemperature = [0.1, 0.2]\n`;
const SETTINGS: Files = new Map([
  ["eval.toml", text(CONFIG)],
  [
    "configs/endpoints.toml",
    text('[[endpoint]]\nendpoint_id = "a"\nmodel = "m"\nurl = "http://127.0.0.1:1/v1"\nkey = "K_API_KEY"\n[endpoint.headers]\nX-A = "b"\n'),
  ],
  [".dev.vars", text('A_API_KEY=abcdefgh\n# no\nB_API_KEY="two words"\nexport C=d\n')],
  ["home/.prime/config.json", json({ api_key: "pk_12345678", team_id: "t", base_url: "https://api.primeintellect.ai" })],
]);

/** A damaged settings file is read, or refused by the name of the file. */
export async function readsSettings(random: Random): Promise<void> {
  await inFolder(damagedFiles(random, SETTINGS), async (place) => {
    collectSecrets({ env: {}, cwd: place, home: join(place, "home"), named: ["A_API_KEY"] });
    new Registries(place).at(undefined);
    const file = join(place, "eval.toml");
    if (existsSync(file)) await orRefused(() => planEvals(parseTomlText(readFileSync(file, "utf8"), file), file));
  });
}
