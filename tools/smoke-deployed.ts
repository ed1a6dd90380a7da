/**
 * `npm run smoke:deployed -- -m MODEL -b URL [-k KEY_VAR] [-n EXAMPLES] [-c REQUESTS] [--keep]`: a small run on a deployment, checked
 * row by row, with a table of what only the real platform shows: how many executors the queue woke and how fast, leases that ended
 * early, commits per rollout, time to the first call and from the last row to the final files.
 *
 * EDGEWISE_URL and EDGEWISE_TOKEN name the deployment; KEY_VAR names a secret of the deployment, never a key.
 */
import { randomUUID } from "node:crypto";
import { parseArgs } from "node:util";
import { type Measure, tableOf } from "../bench/measure.ts";
import type { RunState } from "../src/cli/connection/api-types.ts";
import { followRun } from "../src/cli/connection/follow-run.ts";
import { ServiceClient, ServiceError, ServiceUnreachable } from "../src/cli/connection/http-client.ts";

/** Parts of the state that only a look at a deployment needs. */
type DeployedState = RunState & {
  /** Grants that live now, and since the run began; leases that ended without a word of their executor. */
  readonly executors: number;
  readonly grants: number;
  readonly lapses: number;
};

interface Observed {
  firstCallMs: number | null;
  lastRowMs: number | null;
  peakExecutors: number;
  peakExecutorsMs: number;
  peakRequests: number;
  retries: number;
  commits: number;
}

const USAGE = "usage: npm run smoke:deployed -- -m MODEL -b MODEL_URL [-k KEY_VAR] [-n EXAMPLES] [-c REQUESTS] [--keep]";
/** No answer of the deployment for so long ends the smoke test. */
const PATIENCE_MS = 60_000;

/** What a person has to change; ends with exit code 2. */
class UsageError extends Error {}

function settings() {
  const { values } = parseArgs({
    options: {
      model: { type: "string", short: "m" },
      "api-base-url": { type: "string", short: "b" },
      "api-key-var": { type: "string", short: "k" },
      "num-examples": { type: "string", short: "n", default: "200" },
      "max-concurrent": { type: "string", short: "c", default: "40" },
      keep: { type: "boolean", default: false },
    },
  });
  const { EDGEWISE_URL: url, EDGEWISE_TOKEN: token } = process.env;
  const { model, "api-base-url": baseUrl, "api-key-var": keyVar, keep } = values;
  const missing = [
    ...(url ? [] : ["EDGEWISE_URL is not set: the address `wrangler deploy` printed"]),
    ...(token ? [] : ["EDGEWISE_TOKEN is not set: what was typed at `wrangler secret put EDGEWISE_TOKEN`"]),
    ...(model ? [] : ["-m is missing: the model to call"]),
    ...(baseUrl ? [] : ["-b is missing: base URL of an OpenAI-compatible endpoint that the deployment can reach"]),
  ];
  if (!url || !token || !model || !baseUrl) throw new UsageError(missing.join("\n"));
  return { url, token, model, baseUrl, keyVar, keep, examples: count("-n", values["num-examples"]), concurrency: count("-c", values["max-concurrent"]) };
}

function count(flag: string, text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new UsageError(`${flag} ${text}: not a whole number above 0`);
  return Number(text);
}

async function smoke(): Promise<readonly Measure[]> {
  const { url, token, model, baseUrl, keyVar, keep, examples, concurrency } = settings();
  const client = new ServiceClient(url, { token });
  const begun = performance.now();
  const since = (): number => performance.now() - begun;
  const body = {
    environment_ids: ["reverse-text"],
    inference_model: model,
    name: "smoke",
    eval_config: {
      num_examples: examples,
      rollouts_per_example: 1,
      max_concurrent: concurrency,
      api_base_url: baseUrl,
      ...(keyVar === undefined ? {} : { api_key_var: keyVar }),
    },
  };
  const { evaluation_id: id } = await client.createRun(body, randomUUID());
  console.error(`run ${id} on ${url}`);
  const createdMs = since();

  const seen: Observed = { firstCallMs: null, lastRowMs: null, peakExecutors: 0, peakExecutorsMs: 0, peakRequests: 0, retries: 0, commits: 0 };
  const watcher = {
    onState: (state: RunState) => observe(seen, state as DeployedState, since()),
    onLog: ({ level, message }: { level: string; message: string }) => console.error(`${level} ${message}`),
    onCommit: () => {
      seen.commits++;
    },
  };
  const end = (await followRun(client, id, { seq: 0 }, watcher, { patienceMs: PATIENCE_MS, signal: new AbortController().signal })) as DeployedState;
  const settledMs = since();

  const { status, error_message: why } = await client.run(id);
  if (status !== "COMPLETED") throw new Error(`the run ended ${status}: ${why ?? "it does not say why"}`);
  const rewards = checkRows(await (await client.file(id, "results.jsonl")).text(), examples);
  if (keep) console.error(`kept: ${url}/api/v1/evaluations/${id}`);
  else await client.deleteRun(id);

  const errored = Object.values(end.errors).reduce((total, each) => total + each, 0);
  const lastRowMs = seen.lastRowMs ?? settledMs;
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "deployed", name, value, unit });
  return [
    measure("create answered", createdMs / 1000, "s"),
    measure("first call seen", (seen.firstCallMs ?? Number.NaN) / 1000, "s"),
    measure("last rollout committed", lastRowMs / 1000, "s"),
    measure("final files after it", (settledMs - lastRowMs) / 1000, "s"),
    measure("rollouts, create to last commit", (examples * 1000) / lastRowMs, "per second"),
    measure("most executors at once", seen.peakExecutors, "executors"),
    measure("reached after", seen.peakExecutorsMs / 1000, "s"),
    measure("grants", end.grants, "grants"),
    { ...measure("leases that lapsed", end.lapses, "lapses"), target: { at_most: 0 } },
    { ...measure("most requests at once", seen.peakRequests, "requests"), target: { at_most: concurrency } },
    measure("request retries", seen.retries, "retries"),
    { ...measure("rollouts with an error", errored, "rollouts"), target: { at_most: 0 } },
    // Each is one put into R2, one call on the Run and one transaction there.
    measure("commits per 1,000 rollouts", (seen.commits * 1000) / examples, "commits"),
    measure("mean reward", rewards / examples, ""),
  ];
}

function observe(seen: Observed, state: DeployedState, atMs: number): void {
  const working = state.vitals.in_flight > 0 || state.done_rollouts > 0;
  if (working) seen.firstCallMs ??= atMs;
  if (state.total_rollouts > 0 && state.done_rollouts === state.total_rollouts) seen.lastRowMs ??= atMs;
  seen.peakRequests = Math.max(seen.peakRequests, state.vitals.in_flight);
  seen.retries = Math.max(seen.retries, state.vitals.retries);
  if (state.executors > seen.peakExecutors) [seen.peakExecutors, seen.peakExecutorsMs] = [state.executors, atMs];
}

/** Sum of the rewards; throws unless there is exactly one row for each example, in order. */
function checkRows(text: string, examples: number): number {
  const rows = text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { example_id: number; rollout_index: number; reward: number });
  if (rows.length !== examples) throw new Error(`results.jsonl has ${rows.length} rows instead of ${examples}`);
  const keys = new Set(rows.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`));
  if (keys.size !== rows.length) throw new Error(`results.jsonl has ${rows.length - keys.size} rows twice`);
  return rows.reduce((total, { reward }) => total + reward, 0);
}

try {
  const measures = await smoke();
  console.log(tableOf(measures));
} catch (error) {
  if (error instanceof UsageError || (error as { code?: unknown }).code === "ERR_PARSE_ARGS_UNKNOWN_OPTION") {
    console.error(`${(error as Error).message}\n${USAGE}`);
    process.exitCode = 2;
  } else {
    const hint =
      error instanceof ServiceError && error.hint !== null ? `\n${error.hint}` : error instanceof ServiceUnreachable ? "\nIs EDGEWISE_URL right?" : "";
    console.error(`smoke: ${error instanceof Error ? error.message : String(error)}${hint}`);
    process.exitCode = 1;
  }
}
