import { MAX_R2_KEY_BYTES } from "../src/limits.ts";

/** Every R2 key is built and parsed here and nowhere else; README.md beside this file is the schema. */

const RUN_ID = /^[0-9a-f]{8}$/;
const DIGEST = /^[0-9a-f]{64}$/;
const BATCH = /^[0-9a-f]{32}(?:-traces)?$/;
const JOB_OBJECT = /^\d{1,9}-\d{1,9}-\d{1,9}-\d{1,9}$/;
const SEGMENT = /^\d{1,9}-\d{1,9}-\d{1,9}$/;

export const isRunId = (text: string): boolean => RUN_ID.test(text);
export const isDigest = (text: string): boolean => DIGEST.test(text);

function checked(key: string): string {
  if (new TextEncoder().encode(key).byteLength > MAX_R2_KEY_BYTES) throw new RangeError(`R2 key longer than ${MAX_R2_KEY_BYTES} bytes: ${key.slice(0, 80)}…`);
  return key;
}

function must(test: RegExp, text: string, what: string): string {
  if (!test.test(text)) throw new RangeError(`not a ${what}: ${JSON.stringify(text.slice(0, 80))}`);
  return text;
}

/** A path that leaves its folder, or that a file system cannot hold: an empty, `.` or `..` part, a control character, a backslash. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what this refuses
const UNSAFE_PATH = /[\u0000-\u001f\u007f\\]|(?:^|\/)\.{0,2}(?:\/|$)/;

/**
 * `{env_id}--{model, each / as --}/{run_id}`: the folder of a run below `evals/`, also on a user's disk.
 * Throws RangeError for an environment id or a model that would lead elsewhere.
 */
export function runFolder(envId: string, model: string, runId: string): string {
  const folder = `${envId}--${model.replaceAll("/", "--")}`;
  if (UNSAFE_PATH.test(folder)) throw new RangeError(`not usable as a folder name: ${JSON.stringify(folder.slice(0, 80))}`);
  return `${folder}/${must(RUN_ID, runId, "run id")}`;
}

export type OutputFile = "results.jsonl" | "metadata.json" | "eval.log";
export const OUTPUT_FILES: readonly OutputFile[] = ["results.jsonl", "metadata.json", "eval.log"];

export const outputKey = (envId: string, model: string, runId: string, file: OutputFile): string =>
  checked(`outputs/evals/${runFolder(envId, model, runId)}/${file}`);

/** All files of a run's results folder. */
export const outputPrefix = (envId: string, model: string, runId: string): string => `outputs/evals/${runFolder(envId, model, runId)}/`;

export const runPrefix = (runId: string): string => `runs/${must(RUN_ID, runId, "run id")}/`;
export const configKey = (runId: string): string => `${runPrefix(runId)}config.json`;
export const inputsKey = (runId: string, digest: string): string => `${runPrefix(runId)}inputs/${must(DIGEST, digest, "sha256 digest")}.jsonl`;
/** Rows of another run that this one scores again: a copy, so that the other may go. */
export const sourceKey = (runId: string, digest: string): string => `${runPrefix(runId)}source/${must(DIGEST, digest, "sha256 digest")}.jsonl`;
export const segmentName = (ticket: number, epoch: number, n: number): string => must(SEGMENT, `${ticket}-${epoch}-${n}`, "segment name");
export const segmentKey = (runId: string, segment: string): string => `${runPrefix(runId)}segments/${must(SEGMENT, segment, "segment name")}.jsonl`;
/** Of the exports of a run; below it a folder for each generation whose rows were asked for. */
export const exportPrefix = (runId: string): string => `${runPrefix(runId)}exports/`;
export const exportKey = (runId: string, generation: number, file: string): string => checked(`${exportPrefix(runId)}${generation}/${file}`);
/** Name of a batch that has just come, drawn for it, which says what the batch is: samples, or lines of traces. */
export const batchName = (of: "samples" | "traces"): string => crypto.randomUUID().replaceAll("-", "") + (of === "traces" ? "-traces" : "");
export const isTraces = (object: string): boolean => object.endsWith("-traces");
/** A batch as it was sent, a gzip of traces unpacked. */
export const batchKey = (runId: string, object: string): string =>
  `${runPrefix(runId)}pushed/${must(BATCH, object, "batch")}.${isTraces(object) ? "jsonl" : "json"}`;
/** Of what a run whose requests go out in batches keeps of its jobs. */
export const jobsPrefix = (runId: string): string => `${runPrefix(runId)}batches/`;
/** Name of what one grant stores of a job: the `n`th thing that it stores. */
export const jobObject = (job: number, ticket: number, epoch: number, n: number): string =>
  must(JOB_OBJECT, `${job}-${ticket}-${epoch}-${n}`, "name of a job's object");
const jobKey = (runId: string, object: string): string => `${jobsPrefix(runId)}${must(JOB_OBJECT, object, "name of a job's object")}`;
/** Requests of a job, as its provider is given them. */
export const requestsKey = (runId: string, object: string): string => `${jobKey(runId, object)}.requests.jsonl`;
/** Answers of a job, as they came, and where each is. */
export const answersKey = (runId: string, object: string, part: number): string => checked(`${jobKey(runId, object)}.answers-${part}`);
export const answerIndexKey = (runId: string, object: string): string => `${jobKey(runId, object)}.index.jsonl`;
/** The job that an object is of, and the epoch of the grant that wrote it; null for a key of anything else. */
export function jobOf(runId: string, key: string): { readonly job: number; readonly object: string; readonly epoch: number } | null {
  const prefix = jobsPrefix(runId);
  const object = key.startsWith(prefix) ? (key.slice(prefix.length).split(".")[0] ?? "") : "";
  if (!JOB_OBJECT.test(object)) return null;
  const [job, , epoch] = object.split("-").map(Number);
  return { job: job ?? 0, object, epoch: epoch ?? 0 };
}
export const segmentPrefix = (runId: string): string => `${runPrefix(runId)}segments/`;
/** The segment an object holds, and the epoch of the grant that wrote it; null for a key of anything else. */
export function segmentOf(runId: string, key: string): { readonly name: string; readonly epoch: number } | null {
  const prefix = segmentPrefix(runId);
  const name = key.startsWith(prefix) && key.endsWith(".jsonl") ? key.slice(prefix.length, -".jsonl".length) : "";
  return SEGMENT.test(name) ? { name, epoch: Number(name.split("-")[1]) } : null;
}
export const ANSWER_PREFIX = "answers/";
/** The answer to a question, by the question's digest (src/executor/answers/question.ts). */
export const answerKey = (digest: string): string => `${ANSWER_PREFIX}${must(DIGEST, digest, "sha256 digest").slice(0, 2)}/${digest}`;
export const DATASET_PREFIX = "datasets/";
export const datasetKey = (digest: string): string => `${DATASET_PREFIX}${must(DIGEST, digest, "sha256 digest")}`;
/** The digest of the upload that is stored under a key; null for a key of anything else. */
export const uploadOf = (key: string): string | null =>
  key.startsWith(DATASET_PREFIX) && isDigest(key.slice(DATASET_PREFIX.length)) ? key.slice(DATASET_PREFIX.length) : null;

/** Of a published version, by its code: what a push that was refused left never stands in another's place. */
const PUBLISHED_PART = /^[a-z0-9][\w.-]{0,63}$/;
export const PUBLISHED_FILES = ["module.js", "module.js.map", "README.md", "manifest.json"] as const;
export type PublishedFile = (typeof PUBLISHED_FILES)[number];
export const publishedKey = (name: string, version: string, digest: string, file: PublishedFile): string =>
  checked(`environments/${must(PUBLISHED_PART, name, "name")}/${must(PUBLISHED_PART, version, "version")}/${must(DIGEST, digest, "sha256 digest")}/${file}`);
