/** `vf-eval` of verifiers 0.4.0, which streams its episodes while it runs. */
import assert from "node:assert/strict";
import { copyFileSync, readdirSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { CallOptions, PrimeClient, Said } from "./client.ts";
import { type Check, says } from "./expectations.ts";
import { type StreamingModel, startStreamingModel } from "./streaming-model.ts";

const TASKSET = join(import.meta.dirname, "tiny_sum.py");

async function withModel(check: (model: StreamingModel) => Promise<void>): Promise<void> {
  const model = await startStreamingModel();
  try {
    await check(model);
  } finally {
    model.close();
  }
}

function vfEval(client: PrimeClient, model: StreamingModel, folder: string, more: readonly string[], options: CallOptions = {}): Promise<Said> {
  copyFileSync(TASKSET, join(client.folder, "tiny_sum.py"));
  const where = ["--client.base-url", model.url, "--env.agent.runtime.type", "subprocess", "--output-dir", folder, "--no-rich"];
  // Its harness fetches two packages of its own, where they are not in a cache yet.
  const fetching = Object.fromEntries(Object.entries(process.env).filter(([name]) => /^(?:UV_|SSL_CERT_)/.test(name)));
  const env = { UV_CACHE_DIR: join(homedir(), ".cache/uv"), ...fetching, PYTHONPATH: client.folder, OPENAI_API_KEY: "none", ...options.env };
  return client.beside("vf-eval", ["tiny-sum", "-m", "scripted", ...where, ...more], { ...options, env });
}

/** The evaluation that it says it has made, once that has ended. */
async function evaluationOf(client: PrimeClient, said: Said): Promise<Record<string, unknown>> {
  const [, id = ""] = /dashboard\/evaluations\/([0-9a-f]{8})/.exec(said.text) ?? [];
  assert.notEqual(id, "", said.text);
  await client.untilStatus(id, (status) => status !== "RUNNING" && status !== "PENDING");
  return client.ask(`/evaluations/${id}`);
}

interface Pushed {
  readonly edgewise: { readonly pushed: { readonly differences: unknown; readonly batches: number; readonly metrics: Record<string, unknown> } };
}

/** Ids of the episodes that it kept on its own disk. */
function keptIn(client: PrimeClient, folder: string): readonly string[] {
  const [run = ""] = readdirSync(join(client.folder, folder));
  const lines = readFileSync(join(client.folder, folder, run, "traces.jsonl"), "utf8")
    .trimEnd()
    .split("\n");
  return lines.map((line) => (JSON.parse(line) as { id: string }).id);
}

export const VF_CHECKS: readonly Check[] = [
  {
    name: "vf-eval",
    run: (client) =>
      withModel(async (model) => {
        const said = await vfEval(client, model, "streamed", ["-r", "2"]);
        says(said, 0, "--push: completed");
        const evaluation = await evaluationOf(client, said);
        const { evaluation_id: id, status, total_samples: total } = evaluation;
        assert.deepEqual({ status, total }, { status: "COMPLETED", total: 8 });
        const { pushed } = (evaluation as unknown as Pushed).edgewise;
        // What it averaged itself is what its rows say, three of four errors included.
        assert.deepEqual(pushed.differences, []);
        assert.deepEqual(pushed.metrics.prime_runs, { traces_episodes_written: 8 });
        const { samples } = (await client.ask(`/evaluations/${String(id)}/samples?limit=100`)) as { samples: Record<string, unknown>[] };
        assert.deepEqual(samples.map(({ sample_id }) => sample_id).toSorted(), [...keptIn(client, "streamed")].sort());
        assert.deepEqual(
          samples.map(({ example_id, rollout_index, reward }) => [example_id, rollout_index, reward]),
          [0, 1, 2, 3].flatMap((example) => [0, 1].map((index) => [example, index, [1.25, 1.25, 0.25, 0][example]])),
        );
        assert.deepEqual(
          samples.map(({ error }) => error !== null),
          [false, false, false, false, false, false, true, true],
        );
      }),
  },
  {
    name: "vf-eval-opted-out",
    run: (client) =>
      withModel(async (model) => {
        const said = await vfEval(client, model, "as-samples", ["-n", "2", "-r", "1"], { env: { PRIME_TRACES_OPT_OUT: "true" } });
        says(said, 0, "--push: completed");
        const { total_samples: total, edgewise } = (await evaluationOf(client, said)) as unknown as Pushed & { total_samples: number };
        assert.deepEqual([total, edgewise.pushed.differences], [2, []]);
      }),
  },
  {
    name: "vf-eval-stopped",
    run: (client) =>
      withModel(async (model) => {
        model.slow(1_000);
        const said = await vfEval(client, model, "stopped", ["-r", "1", "-c", "1"], { interruptAt: "task=2" });
        const { status, total_samples: total } = await evaluationOf(client, said);
        assert.equal(status, "CANCELLED");
        assert.ok(Number(total) > 0 && Number(total) < 4, `${String(total)} episodes`);
        assert.equal(total, keptIn(client, "stopped").length);
      }),
  },
];
