import { scriptNow } from "../../steady-clock.ts";
import { type ClientConfig, clientOf, resolveEndpointConfigs } from "../../clients/client-config.ts";
import { aroundClient } from "../../clients/around-client.ts";
import { Gate } from "../../clients/gate.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import { sleep } from "../../clients/transport/sleep.ts";
import { PROVIDERS } from "../../config/endpoints/providers.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import { type GenerateMetadata, generateMetadata } from "./generate-metadata.ts";
import { FirstAnswer } from "./first-answer.ts";
import { type PlayOptions, playUnit } from "./play-unit.ts";
import type { Playable } from "./playable.ts";
import { inProcess } from "../hosted/in-process.ts";
import { type Row, reservedMetricNames } from "../../rollouts/rows/row.ts";
import { runUnit } from "./run-unit.ts";
import { scriptHint } from "./script-hint.ts";
import type { Client, RolloutInput, State } from "../../rollouts/types.ts";

/** A client, or where one is: then it is made for the call, with keys from the variables of the process. */
export type ModelClient = Client | ClientConfig;

const isClient = (client: ModelClient): client is Client => "getResponse" in client;
const connected = (client: ModelClient, first: FirstAnswer): Client => first.watch(isClient(client) ? client : clientOf(client, undefined, first.ports));
/** As `metadata.json` has it: replicas joined by commas; empty where the caller brought a client of its own. */
const baseUrlOf = (client: ModelClient): string =>
  isClient(client)
    ? ""
    : resolveEndpointConfigs(client)
        .map(({ api_base_url = PROVIDERS.prime.base_url }) => api_base_url)
        .join(",");

/** How rollouts are made outside of a run: in a script, a test, a notebook. */
export interface GenerateOptions {
  /** Over the environment's own. */
  readonly samplingArgs?: JsonObject;
  /** Model requests in flight; below 1 = no limit (default). */
  readonly maxConcurrent?: number;
  /** Further attempts at a rollout that ended in an error worth it (docs/retries.md); default 0. */
  readonly maxRetries?: number;
  /** Score each rollout by itself. */
  readonly independentScoring?: boolean;
  /** Keys of the state that rows carry too. */
  readonly stateColumns?: readonly string[];
  /** Ends everything: the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Called with the rows of each example as it is done. */
  readonly onRows?: (rows: readonly Row[]) => void;
}

export interface EvaluateOptions extends GenerateOptions {
  /** Examples from the front; below 1 = all (default). */
  readonly numExamples?: number;
  /** Default 1. */
  readonly rolloutsPerExample?: number;
}

/** What an evaluation gave: one row per rollout, and the numbers over all of them. */
export interface GenerateOutputs {
  outputs: Row[];
  metadata: GenerateMetadata;
}

/** All rollouts of one example. */
interface Group {
  readonly input: RolloutInput;
  readonly count: number;
}

/**
 * See `Environment.generate`. Throws the first refusal that every further call would meet, the endpoint's error when all of an
 * example ended in it before anything was answered, and the signal's reason.
 */
export async function generate(
  environment: Playable,
  inputs: readonly RolloutInput[],
  client: ModelClient,
  model: string,
  options: GenerateOptions = {},
): Promise<GenerateOutputs> {
  const counts = new Map<number, Group>();
  for (const input of inputs)
    counts.set(input.example_id, { input: counts.get(input.example_id)?.input ?? input, count: (counts.get(input.example_id)?.count ?? 0) + 1 });
  return await generateGroups(environment, [...counts.values()], client, model, options);
}

/** See `Environment.evaluate`. */
export async function evaluate(environment: Playable, client: ModelClient, model: string, options: EvaluateOptions = {}): Promise<GenerateOutputs> {
  const { numExamples = -1, rolloutsPerExample = 1 } = options;
  if (!Number.isSafeInteger(rolloutsPerExample) || rolloutsPerExample < 1)
    throw new RangeError(`rolloutsPerExample is ${rolloutsPerExample}, not a number from 1`);
  const groups: Group[] = [];
  for await (const input of environment.examples(numExamples)) groups.push({ input, count: rolloutsPerExample });
  return await generateGroups(environment, groups, client, model, options);
}

async function generateGroups(
  environment: Playable,
  groups: readonly Group[],
  client: ModelClient,
  model: string,
  options: GenerateOptions,
): Promise<GenerateOutputs> {
  const begin = scriptNow();
  const hosted = inProcess(environment);
  const reserved = reservedMetricNames(hosted.traits.metricNames);
  if (reserved.length > 0) throw new EdgewiseError("metric_name_reserved", `metric ${reserved.join(", ")} would overwrite a standard field of every row`);
  const rows: Row[][] = groups.map(() => []);
  await underOneSignal(options.signal, async (signal) => {
    const first = new FirstAnswer();
    const play = playOptions(connected(client, first), model, options, signal);
    await inLanes(groups, lanesOf(options), async ({ input, count }, index) => {
      const outcome = await runUnit(hosted, input, {
        ...play,
        unit: index,
        rollouts: Array.from({ length: count }, (_, rollout) => rollout),
        kept: [],
        rolloutsPerExample: count,
        stateColumns: options.stateColumns ?? [],
      });
      if (outcome.fatal !== null) throw thrownOf(outcome.fatal);
      signal.throwIfAborted();
      first.check(outcome);
      rows[index] = outcome.lines.map((line) => JSON.parse(line) as Row);
      options.onRows?.(rows[index]);
    });
  });
  const metadata = generateMetadata(environment, rows, {
    model,
    stateColumns: options.stateColumns ?? [],
    samplingArgs: options.samplingArgs ?? {},
    baseUrl: baseUrlOf(client),
    begin,
  });
  return { outputs: rows.flat(), metadata };
}

/** See `Environment.runGroup`. */
export async function runGroup(
  environment: Playable,
  inputs: readonly RolloutInput[],
  client: ModelClient,
  model: string,
  options: GenerateOptions = {},
): Promise<State[]> {
  const [first] = inputs;
  if (first === undefined) return [];
  if (inputs.some(({ example_id }) => example_id !== first.example_id)) throw new RangeError("the inputs of a group are of different examples");
  return await underOneSignal(options.signal, async (signal) => {
    const { states, fatal } = await playUnit(
      environment,
      first,
      inputs.map((_, index) => index),
      playOptions(connected(client, new FirstAnswer()), model, options, signal),
    );
    if (fatal !== null) throw thrownOf(fatal);
    signal.throwIfAborted();
    return [...(states ?? [])];
  });
}

/** See `Environment.runRollout`. */
export async function runRollout(
  environment: Playable,
  input: RolloutInput,
  client: ModelClient,
  model: string,
  options: GenerateOptions = {},
): Promise<State> {
  const [state] = await runGroup(environment, [input], client, model, { independentScoring: !environment.hasGroupRewards, ...options });
  if (state === undefined) throw new Error("a rollout ended without a state");
  return state;
}

const thrownOf = ({ code, message, hint }: Failure): EdgewiseError => new EdgewiseError(code, message, hint === undefined ? {} : { hint: scriptHint(hint) });

/** Examples worked on at once: enough to keep every permit in use while rollouts of a group end one after another. */
const lanesOf = ({ maxConcurrent = 0 }: GenerateOptions): number => (maxConcurrent < 1 ? Number.POSITIVE_INFINITY : maxConcurrent + 1);

/** Runs `work` under a signal that also ends when `work` fails, so that nothing goes on after an error. */
async function underOneSignal<T>(outer: AbortSignal | undefined, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const own = new AbortController();
  const letGo = outer === undefined ? () => undefined : onAbort(outer, () => own.abort(outer.reason));
  if (outer?.aborted) own.abort(outer.reason);
  try {
    return await work(own.signal);
  } catch (thrown) {
    own.abort(thrown);
    throw thrown;
  } finally {
    letGo();
  }
}

/** Begins with the items in their order, `lanes` of them at once; the first failure is the whole's. */
async function inLanes<T>(items: readonly T[], lanes: number, work: (item: T, index: number) => Promise<void>): Promise<void> {
  const rest = items.entries();
  const lane = async (): Promise<void> => {
    for (const [index, item] of rest) await work(item, index);
  };
  await Promise.all(Array.from({ length: Math.min(items.length, lanes) }, lane));
}

/** `client` with at most `requests` calls in flight; below 1 = no limit. */
function limited(client: Client, requests: number): Client {
  if (requests < 1) return client;
  const gate = new Gate(requests);
  return aroundClient(client, async (request, ask) => {
    await gate.enter(request.signal);
    try {
      return await ask(request);
    } finally {
      gate.leave();
    }
  });
}

function playOptions(client: Client, model: string, options: GenerateOptions, signal: AbortSignal): PlayOptions {
  return {
    client: limited(client, options.maxConcurrent ?? 0),
    model,
    sampling_args: options.samplingArgs ?? {},
    maxRetries: options.maxRetries ?? 0,
    independent: options.independentScoring ?? false,
    signal,
    deadlineMs: null,
    now: scriptNow,
    sleep,
    random: Math.random,
  };
}
