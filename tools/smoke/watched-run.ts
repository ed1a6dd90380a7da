/** One run on a deployment, watched from its creation to its end, and its rows counted. */
import { randomUUID } from "node:crypto";
import type { RunState } from "../../src/cli/connection/api-types.ts";
import { followRun } from "../../src/cli/connection/follow-run.ts";
import type { ServiceClient } from "../../src/cli/connection/http-client.ts";

/** Parts of the state that only a look at a deployment needs. */
type DeployedState = RunState & {
  /** Grants that live now, and since the run began; leases that ended without a word of their executor. */
  readonly executors: number;
  readonly grants: number;
  readonly lapses: number;
};

export interface AskedRun {
  /** What the table calls it. */
  readonly name: string;
  readonly model: string;
  readonly baseUrl: string;
  readonly keyVar: string | null;
  readonly examples: number;
  readonly rollouts: number;
  readonly concurrency: number;
  /** It must have ended by then. */
  readonly withinMs: number;
}

/** Times are milliseconds since the creation was asked for; null = it was not seen. */
export interface WatchedRun {
  readonly id: string;
  readonly asked: AskedRun;
  /** Unix milliseconds of that. */
  readonly begunAt: number;
  readonly createdMs: number;
  readonly firstCallMs: number | null;
  readonly lastRowMs: number | null;
  readonly settledMs: number | null;
  /** Executors at each look, in the order of time. */
  readonly looks: readonly { readonly ms: number; readonly executors: number }[];
  readonly peakRequests: number;
  readonly retries: number;
  readonly commits: number;
  readonly grants: number;
  readonly lapses: number;
  readonly errored: number;
  readonly meanReward: number;
  /** Hard rules that it broke. */
  readonly broken: readonly string[];
}

/** No answer of the deployment for so long ends the smoke test. */
const PATIENCE_MS = 60_000;

/** Throws where the service refuses, or answers no more; a rule that the run breaks is in what is returned. */
export async function watchRun(client: ServiceClient, asked: AskedRun): Promise<WatchedRun> {
  const { name, examples, rollouts, withinMs } = asked;
  const [begun, begunAt] = [performance.now(), Date.now()];
  const since = (): number => performance.now() - begun;
  const { evaluation_id: id } = await client.createRun(bodyOf(asked), randomUUID());
  console.error(`${name}: run ${id} on ${client.url}`);
  const seen = {
    createdMs: since(),
    firstCallMs: null as number | null,
    lastRowMs: null as number | null,
    looks: [] as { ms: number; executors: number }[],
    peakRequests: 0,
    retries: 0,
    commits: 0,
    last: null as DeployedState | null,
  };
  const onState = (each: RunState): void => {
    const [state, ms] = [each as DeployedState, since()];
    seen.last = state;
    if (state.vitals.in_flight > 0 || state.done_rollouts > 0) seen.firstCallMs ??= ms;
    if (state.total_rollouts > 0 && state.done_rollouts === state.total_rollouts) seen.lastRowMs ??= ms;
    seen.peakRequests = Math.max(seen.peakRequests, state.vitals.in_flight);
    seen.retries = Math.max(seen.retries, state.vitals.retries);
    seen.looks.push({ ms, executors: state.executors });
  };
  const onLog = ({ level, message }: { level: string; message: string }): void => console.error(`${name}: ${level} ${message}`);
  const onCommit = (): void => {
    seen.commits++;
  };
  const timeout = AbortSignal.timeout(withinMs);
  const broken: string[] = [];
  let settledMs: number | null = null;
  let meanReward = Number.NaN;
  try {
    await followRun(client, id, { seq: 0 }, { onState, onLog, onCommit }, { patienceMs: PATIENCE_MS, signal: timeout });
    settledMs = since();
    const { status, error_message: why } = await client.run(id);
    if (status !== "COMPLETED") broken.push(`the run ended ${status}: ${why ?? "it does not say why"}`);
    else {
      const counted = countRows(await (await client.file(id, "results.jsonl")).text(), examples, rollouts);
      broken.push(...counted.problems);
      meanReward = counted.meanReward;
    }
  } catch (error) {
    if (!timeout.aborted) throw error;
    broken.push(`the run has not ended after ${withinMs / 1_000} s: ${seen.last?.done_rollouts ?? 0} of ${examples * rollouts} rollouts are done`);
    await client.cancelRun(id);
  }
  const { last, ...rest } = seen;
  const errored = Object.values(last?.errors ?? {}).reduce((total, each) => total + each, 0);
  return { ...rest, id, asked, begunAt, settledMs, grants: last?.grants ?? 0, lapses: last?.lapses ?? 0, errored, meanReward, broken };
}

const bodyOf = ({ model, baseUrl, keyVar, examples, rollouts, concurrency }: AskedRun) => ({
  environment_ids: ["reverse-text"],
  inference_model: model,
  name: "smoke",
  eval_config: {
    num_examples: examples,
    rollouts_per_example: rollouts,
    max_concurrent: concurrency,
    api_base_url: baseUrl,
    ...(keyVar === null ? {} : { api_key_var: keyVar }),
  },
});

/** What is wrong with the rows of a run: there is to be exactly one of each rollout of each example. */
export function countRows(text: string, examples: number, rollouts: number): { readonly problems: readonly string[]; readonly meanReward: number } {
  const lines = text.split("\n").filter((line) => line !== "");
  const rows = lines.map((line) => JSON.parse(line) as { example_id: number; rollout_index: number; reward: number });
  const keys = new Set(rows.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`));
  const problems: string[] = [];
  const missing: string[] = [];
  for (let example = 0; example < examples; example++)
    for (let rollout = 0; rollout < rollouts; rollout++) if (!keys.has(`${example}/${rollout}`)) missing.push(`${example}/${rollout}`);
  if (missing.length > 0) problems.push(`results.jsonl lacks ${missing.length} of ${examples * rollouts} rows: ${shortList(missing)}`);
  if (keys.size < rows.length) problems.push(`results.jsonl has ${rows.length - keys.size} rows twice`);
  const others = keys.size - (examples * rollouts - missing.length);
  if (others > 0) problems.push(`results.jsonl has ${others} rows that nobody asked for`);
  return { problems, meanReward: rows.reduce((total, { reward }) => total + reward, 0) / rows.length };
}

const shortList = (keys: readonly string[]): string => `${keys.slice(0, 3).join(", ")}${keys.length > 3 ? ", ..." : ""}`;
