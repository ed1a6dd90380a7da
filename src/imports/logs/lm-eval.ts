import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { ImportError } from "./import-error.ts";
import type { ImportedRollout, ImportedRun } from "./imported-run.ts";
import { countOf, type Fields, fieldsOf, isFields, numberOf, present, scoreOf, textOf } from "./fields.ts";
import { messagesInText, saidOf } from "./messages-of-log.ts";
import { type LineFile, LineGroups, lineFields } from "./sources.ts";

const EXPECTED = "a sample of lm-evaluation-harness (doc_id, doc, resps, filter, metrics)";

/** Whether a line is a sample of `samples_*.jsonl`. */
export const isLmEvalSample = (value: Fields): boolean => "doc_id" in value && "resps" in value && "filtered_resps" in value;

/** Whether a document is a `results_*.json`. */
export const isLmEvalResults = (value: Fields): boolean => isFields(value.results) && isFields(value.configs) && isFields(value.config);

/** `samples_{task}_{date}.jsonl`: the task, and the date by which its results are found; null for a file of another name. */
export function lmEvalName(name: string): { readonly task: string; readonly date: string } | null {
  const [, task, date] = /^samples_(.+)_(\d{4}-\d\d-\d\dT[^/]+)\.jsonl$/.exec(name) ?? [];
  return task === undefined || date === undefined ? null : { task, date };
}

/**
 * The run of one task: its samples, and the results beside them. A document has a line for each filter; they are one rollout, whose metrics
 * are named as the results name them, `metric,filter`.
 */
export function lmEvalRun(file: LineFile, task: string, results: Fields): ImportedRun {
  const config = fieldsOf(results.config);
  const settings = fieldsOf(fieldsOf(results.configs)[task]);
  const args = modelArgs(config.model_args);
  const own = fieldsOf(fieldsOf(results.results)[task]);
  const seconds = Number(results.total_evaluation_time_seconds);
  const date = numberOf(results.date);
  const notes: string[] = [];
  return {
    format: "lm-eval",
    tool: { name: "lm_eval", version: textOf(results.lm_eval_version) },
    key: task,
    envId: task,
    envVersion: versionOf(fieldsOf(results.versions)[task]),
    envArgs: present({ num_fewshot: fieldsOf(results["n-shot"])[task] ?? settings.num_fewshot, limit: config.limit }),
    model: textOf(results.model_name) ?? textOf(args.model) ?? textOf(args.pretrained) ?? textOf(config.model) ?? "unknown",
    baseUrl: textOf(args.base_url),
    samplingArgs: { ...present(fieldsOf(settings.generation_kwargs)), ...present(fieldsOf(config.gen_kwargs)) },
    status: "COMPLETED",
    created: date === null ? null : new Date(date * 1_000).toISOString(),
    timeMs: Number.isFinite(seconds) ? seconds * 1_000 : null,
    datasetName: textOf(settings.dataset_path),
    stated: Object.fromEntries(Object.entries(own).filter((entry): entry is [string, number] => entry[0].includes(",") && numberOf(entry[1]) !== null)),
    comparesPrompts: false,
    rewardIs: "the first metric of the first filter",
    async *rollouts(): AsyncGenerator<ImportedRollout> {
      const groups = new LineGroups();
      for await (const line of file.lines()) {
        const sample = lineFields(file, line, EXPECTED);
        if (!isLmEvalSample(sample) || countOf(sample.doc_id) === null)
          throw new ImportError(file.name, `line ${line.line} is no sample; expected ${EXPECTED}`);
        groups.add(String(sample.doc_id), line);
      }
      if (await file.isCut()) notes.push("the last line of the samples is cut and left out");
      for (const doc of groups.keys()) yield rolloutOfLines(await groups.lines(file, doc, EXPECTED), task);
    },
    notes: () => notes,
    groupingProblem: () => null,
  };
}

function rolloutOfLines(lines: readonly Fields[], task: string): ImportedRollout {
  const [first = {}] = lines;
  const metrics: Record<string, number> = {};
  const filters: JsonObject[] = [];
  for (const line of lines) {
    const filter = textOf(line.filter) ?? "none";
    const names = Array.isArray(line.metrics) ? line.metrics.map(String) : [];
    for (const name of names) {
      const score = scoreOf(line[name]);
      if (score !== null) metrics[`${name},${filter}`] = score;
    }
    const rest = names.flatMap((name): [string, Json][] => (scoreOf(line[name]) === null ? [[name, line[name] ?? null]] : []));
    filters.push({ filter, filtered_resps: line.filtered_resps ?? null, ...(rest.length === 0 ? {} : { metrics: Object.fromEntries(rest) }) });
  }
  const requests = requestsOf(first.arguments);
  const prompts = [...new Set(requests.map(([prompt]) => JSON.stringify(prompt)))];
  const responses = listsOf(first.resps);
  // What was scored rather than generated has no text of the model: a log-likelihood stands there.
  const generated = requests.length === 1 && responses[0]?.every((response) => typeof response === "string") === true ? responses[0] : null;
  return {
    example: countOf(first.doc_id) ?? 0,
    rollout: 0,
    sourceId: first.doc_id ?? null,
    task,
    prompt: prompts.length === 1 ? promptOf(requests[0]?.[0]) : null,
    completion: generated === null ? null : saidOf(generated[0]),
    answer: first.target ?? null,
    info: present({
      doc: first.doc,
      filters,
      arguments: generated === null ? (first.arguments ?? null) : null,
      resps: generated === null || generated.length > 1 ? (first.resps ?? null) : null,
    }),
    reward: Object.values(metrics)[0] ?? null,
    metrics,
    error: null,
    timing: {},
    isCompleted: true,
    isTruncated: null,
    stopCondition: null,
    usage: null,
    tools: null,
  };
}

const listsOf = (value: unknown): readonly (readonly unknown[])[] => (Array.isArray(value) ? value.filter((item) => Array.isArray(item)) : []);

/** Of each request its arguments: by name since 0.4.3, a list of lists before. */
function requestsOf(given: unknown): readonly (readonly unknown[])[] {
  if (Array.isArray(given)) return listsOf(given);
  return Object.values(fieldsOf(given)).map((request) => Object.values(fieldsOf(request)));
}

/** A conversation is a list of one text, which is JSON. */
function promptOf(argument: unknown): Json {
  const text: unknown = Array.isArray(argument) && argument.length === 1 ? argument[0] : argument;
  if (typeof text === "string") return messagesInText(text);
  return text === undefined || text === null ? null : JSON.stringify(text);
}

/** An object since 0.4.4; `a=1,b=2` before. */
function modelArgs(given: unknown): Fields {
  if (typeof given !== "string") return fieldsOf(given);
  return Object.fromEntries(
    given.split(",").flatMap((pair) => {
      const at = pair.indexOf("=");
      return at < 0 ? [] : [[pair.slice(0, at).trim(), pair.slice(at + 1).trim()]];
    }),
  );
}

const versionOf = (version: unknown): string | null => (typeof version === "number" || typeof version === "string" ? String(version) : null);
