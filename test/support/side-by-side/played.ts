import { clientOf } from "../../../src/clients/client-config.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { runUnit } from "../../../src/environments/unit/run-unit.ts";
import { sharedTools } from "../../../src/rollouts/rows/shared-tools.ts";
import type { Row } from "../../../src/rollouts/rows/row.ts";
import { Aggregator } from "../../../src/metrics/aggregates.ts";
import { buildMetadata, metadataText } from "../../../src/report/metadata.ts";
import { ENVIRONMENTS, settingsOf } from "./environments.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";

/** What an evaluation left: the lines of `results.jsonl` and the text of `metadata.json`. */
export interface Folder {
  readonly rows: readonly string[];
  readonly metadata: string;
}

const MODEL = "scripted";

/** Plays the environment `name` as a run would that goes on in a folder of verifiers 0.1.14, against the scripted server at `url`. */
export async function playedHere(name: string, url: string): Promise<Folder> {
  const { client_type, sampling_args = { max_tokens: 64 }, state_columns = [], rollouts_per_example = 2, independent_scoring = false } = settingsOf(name);
  const environment = ENVIRONMENTS[name]?.(url);
  if (environment === undefined) throw new Error(`no environment ${name}`);
  environment.id = name;
  const place = { api_base_url: url, api_key_var: "SIDE_BY_SIDE_KEY", max_retries: 0, ...(client_type === undefined ? {} : { client_type }) };
  const client = clientOf(place, { SIDE_BY_SIDE_KEY: "none" });
  const aggregator = new Aggregator({ rolloutsPerExample: rollouts_per_example, passThreshold: environment.passThreshold });
  const rows: string[] = [];
  let unit = 0;
  for await (const input of environment.examples(-1)) {
    const { lines, summaries, fatal } = await runUnit(inProcess(environment), input, {
      unit: unit++,
      rollouts: Array.from({ length: rollouts_per_example }, (_, index) => index),
      kept: [],
      rolloutsPerExample: rollouts_per_example,
      stateColumns: state_columns,
      shape: "0.1.14",
      client,
      model: MODEL,
      sampling_args,
      maxRetries: 0,
      independent: independent_scoring,
      signal: new AbortController().signal,
      deadlineMs: null,
      now: Date.now,
      sleep: async () => undefined,
      random: () => 0,
    });
    if (fatal !== null) throw new Error(`${name}: ${fatal.message}`);
    rows.push(...lines);
    aggregator.addUnit(summaries);
  }
  const config: RunConfig = {
    version: 1,
    run_id: "0a1b2c3d",
    name: null,
    env_id: name,
    env_version: "0.1.0",
    env_args: {},
    model: MODEL,
    base_url: url,
    api_key_var: "SIDE_BY_SIDE_KEY",
    api_client_type: client_type ?? "openai_chat_completions",
    num_examples: -1,
    rollouts_per_example,
    max_concurrent: -1,
    sampling_args,
    independent_scoring,
    max_retries: 0,
    timeout_minutes: null,
    state_columns,
    results_shape: "0.1.14",
    hosted: {},
    attended: true,
    created_at: 0,
  };
  const metadata = buildMetadata({
    config,
    aggregates: aggregator.result(),
    status: "COMPLETED",
    time_ms: 1,
    num_examples: unit,
    pass_threshold: environment.passThreshold,
    reward_range: [0, 1],
    env_sampling_args: environment.samplingArgs,
    tools: sharedTools(rows.map((line) => JSON.parse(line) as Row)),
    env_digest: null,
    env_digests: null,
    dataset_name: null,
    dataset_digest: null,
    version: "0.1.0",
  });
  return { rows, metadata: metadataText(metadata) };
}
