import type { FolderSource, Grant, PreparedRequest, TicketTask } from "../../../durable-objects/run/protocol.ts";
import { unitsOutside } from "../../../r2-layout/folder-manifest.ts";
import type { RunConfig } from "../../config/plan/run-config.ts";
import { drawnExamples } from "../../environments/definition/dataset-source.ts";
import type { HostedEnvironment } from "../../environments/hosted/hosted-environment.ts";
import { type EnvironmentTraits, scoringProblem, shapeOf } from "../../environments/hosted/traits.ts";
import { environmentFailed } from "../../rollouts/file-access.ts";
import { reservedMetricNames } from "../../rollouts/rows/row.ts";
import type { RolloutInput } from "../../rollouts/types.ts";
import { maskJson } from "../../errors/masking.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { Pace } from "../../datasets/pace.ts";
import { KIB, MAX_INPUT_BYTES, MIB } from "../../limits.ts";
import { Baseline } from "./baseline.ts";
import { checkBatches } from "./check-batches.ts";
import { checkRule } from "./check-rule.ts";
import { foreignExample } from "./adopt.ts";
import { ClusterKey } from "./cluster-key.ts";
import { manifestOf } from "./folder-rows.ts";
import { RescoredExamples } from "../rescoring/rescored-examples.ts";
import { InputDigest } from "./input-digest.ts";
import { ChunkWriter } from "./chunk-writer.ts";
import { PermutedWriter } from "./permuted-writer.ts";
import type { InputWriter, WrittenInputs } from "./input-writer.ts";
import { ticketOf } from "../keep-alive.ts";
import type { ExecutorPorts } from "../ports.ts";

export type PrepareTask = Extract<TicketTask, { kind: "prepare" }>;

/** What a row counts for in pacing: making, digesting and storing it takes about as long as that many characters take to be read. */
const ROW_CHARS = KIB;

/** Most metrics of an environment: r rollouts of them must fit one row of the ledger. */
const MAX_METRICS = 64;

/** Most bytes of tools, or of weights, that a Run keeps: they are stored with every transition. */
const MAX_KEPT_BYTES = 16 * KIB;
const small = <T>(value: T): T | null => (new TextEncoder().encode(JSON.stringify(value)).byteLength > MAX_KEPT_BYTES ? null : value);

/** What would go wrong with every rollout is found before the first model call. */
function checkMetrics(traits: EnvironmentTraits, independent: boolean): void {
  const { id, metricNames: names } = traits;
  const reserved = reservedMetricNames(names, traits.resultsShape !== null);
  if (reserved.length > 0) {
    throw new EdgewiseError(
      "metric_name_reserved",
      `Environment ${id} has a metric named ${reserved.join(", ")}, which would overwrite a standard field of every row.`,
      {
        hint: "Rename the reward function.",
      },
    );
  }
  if (names.length > MAX_METRICS)
    throw new EdgewiseError("environment_failed", `Environment ${id} has ${names.length} metrics; at most ${MAX_METRICS} are supported.`);
  const problem = scoringProblem(traits, independent);
  if (problem !== null) throw new EdgewiseError(problem.code, problem.message, problem.hint === undefined ? {} : { hint: problem.hint });
}

/** Rows that are made from nothing are work as well: beats, other runs and whoever cancels this one have their turn between them. */
async function* paced(rows: AsyncIterable<RolloutInput>, signal: AbortSignal): AsyncGenerator<RolloutInput> {
  const pace = new Pace();
  for await (const row of rows) {
    signal.throwIfAborted();
    yield row;
    await pace.spend(ROW_CHARS);
  }
}

/** What breaks inside the environment is the environment's failure; what breaks around it (storage, the Run) is not. */
async function* examplesOf(
  environment: HostedEnvironment,
  { num_examples, shuffle_seed }: Pick<RunConfig, "num_examples" | "shuffle_seed">,
  signal: AbortSignal,
): AsyncGenerator<RolloutInput> {
  try {
    const read = (count: number): AsyncIterable<RolloutInput> => paced(environment.examples(count), signal);
    yield* shuffle_seed === undefined ? read(num_examples) : drawnExamples(read, num_examples, shuffle_seed);
  } catch (thrown) {
    if (thrown instanceof EdgewiseError || signal.aborted) throw thrown;
    throw environmentFailed(`Environment ${environment.traits.id} could not make its examples`, thrown);
  }
}

async function* plainly(inputs: AsyncIterable<RolloutInput>): AsyncGenerator<{ readonly input: RolloutInput; readonly line?: string }> {
  for await (const input of inputs) yield { input };
}

function changed(rows: number): EdgewiseError {
  return new EdgewiseError("dataset_changed", `The first ${rows} rows of the data set are not the ones this run was started with.`, {
    hint: "Use the same data, or start a new run.",
  });
}

function tooMuch(rows: number): EdgewiseError {
  return new EdgewiseError("dataset_unreadable", `The first ${rows} rows are ${MAX_INPUT_BYTES / MIB} MiB already, more than a run holds.`, {
    hint: `Ask for fewer examples (num_examples), or for shorter ones.`,
  });
}

function shrunk(what: "run" | "results folder", had: number, has: number): EdgewiseError {
  return new EdgewiseError("dataset_changed", `num_examples: the ${what} has ${had}, the data set now ${has}.`, {
    hint: "Use the same data, or start a new run.",
  });
}

/** What a preparation that is not over yet tells, and waits for. */
export interface PrepareHooks {
  /** What is to be over before the ticket may end, when the environment is needed no more. */
  readonly beforeLast: () => Promise<void>;
  /** A part was pinned, and the run is open. */
  readonly onOpen: () => void;
}

/**
 * Reads the data set, which nothing else does: the first n rows go to R2 as chunks and are pinned in the Run, part by part where it says so,
 * so that a large run begins with the first. A growth reads them again, checks the pinned ones against their digest, and appends.
 * Throws `EdgewiseError` for what ends the run.
 */
export async function prepareRun(
  ports: ExecutorPorts,
  grant: Grant,
  task: PrepareTask,
  environment: HostedEnvironment,
  signal: AbortSignal,
  { beforeLast, onOpen }: PrepareHooks = { beforeLast: async () => undefined, onOpen: () => undefined },
): Promise<void> {
  const { config } = grant;
  const { traits } = environment;
  checkMetrics(traits, config.independent_scoring);
  const pinned = task.pinned?.count ?? 0;
  const digest = new InputDigest();
  const clusterKey = new ClusterKey({ ...config, results_shape: shapeOf(traits, config) });
  checkBatches(config, traits);
  checkRule(config, traits.rewardRange);
  const baseline = await Baseline.of(ports, config, traits.rewardRange, signal);
  const chunks = new ChunkWriter(ports, config.run_id, pinned);
  // Rows of a folder are found by the order of its examples, which the data set's is.
  const writer: InputWriter =
    config.order_seed === undefined || task.adopt !== null
      ? chunks
      : new PermutedWriter(chunks, pinned, { seed: config.order_seed, whole: task.whole_order === true });
  /** `example_id` by unit, for rows that are taken over. */
  const ids: number[] = [];
  /** Whether examples bring tools: then rows may differ in theirs. */
  let ownTools = false;
  /** Whether the first rows are those that the folder was made of. */
  let asInFolder = false;
  let count = 0;
  let bytes = 0;
  let envDigest: string | null = null;
  const found = async ({ chunks, permuted }: WrittenInputs): Promise<PreparedRequest> => {
    const rowsDigest = await digest.value();
    envDigest ??= await ports.envDigest(config);
    if (envDigest === null) throw new EdgewiseError("environment_not_found", `There is no environment ${JSON.stringify(config.env_id)}.`);
    const datasetSize = await environment.datasetSize();
    return {
      ...ticketOf(grant),
      attempt: task.attempt,
      chunks,
      ...(permuted.length === 0 ? {} : { permuted }),
      count,
      digest: rowsDigest,
      env_digest: envDigest,
      dataset_name: traits.datasetName,
      ...(datasetSize === null ? {} : { n_not_run: Math.max(0, datasetSize - count) }),
      pass_threshold: traits.passThreshold,
      reward_range: traits.rewardRange,
      reward_weights: small(traits.rewardWeights) ?? {},
      env_sampling_args: traits.samplingArgs,
      concurrency: traits.concurrency,
      ...(traits.whole ? { whole: true as const } : {}),
      ...(traits.resultsShape === null || traits.resultsShape === "0.1.13" ? {} : { results_shape: traits.resultsShape }),
      tools: ownTools ? null : small(traits.sharedTools),
      ...(baseline === null ? {} : { baseline: baseline.scores(rowsDigest, permuted, config.order_seed) }),
    };
  };
  const { rescored_from: source } = config;
  const data = examplesOf(environment, config, signal);
  const rescored = source === undefined ? null : new RescoredExamples(ports, grant, environment, source, signal);
  for await (const { input, line: pinnedLine } of rescored === null ? plainly(data) : rescored.examples(data)) {
    signal.throwIfAborted();
    const line = JSON.stringify(input);
    if (count >= pinned) baseline?.add(input);
    bytes += line.length;
    if (bytes > MAX_INPUT_BYTES) throw tooMuch(count);
    clusterKey.see(input);
    if (count >= pinned && (await writer.add(maskJson(pinnedLine ?? line))) && task.in_parts === true) {
      // Nothing may be asked of a model before the key is found, and so many examples without it are no data for it.
      clusterKey.check(count);
      const { kind } = await ports.run(config.run_id).prepared({ ...(await found(await writer.taken())), more: true });
      if (kind !== "ok") return;
      onOpen();
    }
    await digest.add(line);
    count++;
    if (count === pinned && (await digest.value()) !== task.pinned?.digest) throw changed(pinned);
    // A folder says how many rows its digest is of; from one of before it has to be found out.
    if (count === task.adopt?.num_examples) asInFolder = (await digest.value()) === task.adopt.dataset_digest;
    if (task.adopt !== null) ids.push(input.example_id);
    ownTools ||= input.info?.tool_defs !== undefined;
  }
  clusterKey.check(count);
  if (count < pinned) throw shrunk("run", pinned, count);
  if (count < (task.adopt?.num_examples ?? 0)) throw shrunk("results folder", task.adopt?.num_examples ?? 0, count);
  const all = await found(await writer.close());
  if (!(asInFolder || task.adopt === null || task.adopt.dataset_digest === null || task.adopt.dataset_digest === all.digest)) {
    await checkAdopted(environment, task.adopt.dataset_digest, config, signal);
  }
  const request = { ...all, ...(rescored === null ? {} : { source: rescored.facts }), ...(task.adopt === null ? {} : await lacksOf(ports, task.adopt, ids)) };
  await beforeLast();
  await ports.run(config.run_id).prepared(request);
}

/** What the folder has no row of, as far as its upload says; rows of no example are found before anything is asked of a model. */
async function lacksOf(ports: ExecutorPorts, source: FolderSource, ids: readonly number[]): Promise<Pick<PreparedRequest, "lacks">> {
  const { held } = await manifestOf(ports.store, source);
  if (held === undefined) return {};
  const known = new Set(ids);
  for (const id of held.flat()) if (!known.has(id)) throw foreignExample(id, ids.length);
  return { lacks: unitsOutside(ids, held) };
}

/** A folder may come from a smaller run of the same data: then some first rows have its digest. */
async function checkAdopted(environment: HostedEnvironment, wanted: string, config: RunConfig, signal: AbortSignal): Promise<void> {
  const digest = new InputDigest();
  for await (const input of examplesOf(environment, config, signal)) {
    await digest.add(JSON.stringify(input));
    if ((await digest.value()) === wanted) return;
  }
  throw new EdgewiseError("dataset_changed", `dataset_digest: the result folder has ${wanted}, the data set now another for every number of rows.`, {
    hint: "Use the same data, or start a new run.",
  });
}
