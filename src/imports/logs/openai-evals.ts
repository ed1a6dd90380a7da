import type { Json } from "../../config/plan/run-config.ts";
import { ImportError } from "./import-error.ts";
import type { ImportedError, ImportedRollout, ImportedRun } from "./imported-run.ts";
import { type Fields, fieldsOf, isFields, numberOf, present, scoreOf, textOf } from "./fields.ts";
import { messagesOfLog, saidOf } from "./messages-of-log.ts";
import { type FileLine, type LineFile, LineGroups, lineFields } from "./sources.ts";

const EXPECTED = "an event of OpenAI Evals (sample_id, type, data)";

/** Whether a line is the first of a log: what was run. */
export const isOpenAiEvalsSpec = (value: Fields): boolean => isFields(value.spec) && typeof value.spec.eval_name === "string";

const isEvent = (value: Fields): boolean => typeof value.sample_id === "string" && typeof value.type === "string";

interface Head {
  readonly spec: Fields;
  readonly report: Fields | null;
  readonly groups: LineGroups;
}

/** The run of a log. Events of a sample stand anywhere in it, since samples run side by side: the file is read twice. */
export async function openAiEvalsRun(file: LineFile): Promise<ImportedRun> {
  const { spec, report, groups } = await readHead(file);
  const numbers = numbersOf([...groups.keys()]);
  const name = textOf(spec.eval_name) ?? "";
  const args = fieldsOf(fieldsOf(spec.run_config).completion_fn_args ?? spec.completion_args);
  const notes = report === null ? ["the log has no final report: its run was killed, or still goes on"] : [];
  if (await file.isCut()) notes.push("the last line of the log is cut and left out");
  const models = Array.isArray(spec.completion_fns) ? spec.completion_fns.map(String) : [];
  return {
    format: "openai-evals",
    tool: { name: "openai-evals", version: null },
    key: textOf(spec.run_id) ?? name,
    envId: name,
    envVersion: null,
    envArgs: present({ split: spec.split, base_eval: spec.base_eval }),
    model: models.join(",") || "unknown",
    baseUrl: null,
    samplingArgs: present(args),
    status: report === null ? "CANCELLED" : "COMPLETED",
    created: textOf(spec.created_at),
    timeMs: null,
    datasetName: null,
    stated: Object.fromEntries(Object.entries(fieldsOf(report)).flatMap(([metric, value]) => (numberOf(value) === null ? [] : [[metric, value as number]]))),
    comparesPrompts: false,
    rewardIs: "`correct` of the match, else the metric `accuracy`, `score` or the only one there is",
    async *rollouts(): AsyncGenerator<ImportedRollout> {
      for (const id of groups.keys()) yield* rolloutsOfEvents(await groups.lines(file, id, EXPECTED), id, numbers.get(id) ?? 0, name);
    },
    notes: () => notes,
    groupingProblem: () => null,
  };
}

async function readHead(file: LineFile): Promise<Head> {
  const groups = new LineGroups();
  let spec: Fields | null = null;
  let report: Fields | null = null;
  for await (const line of file.lines()) {
    const value = lineFields(file, line, EXPECTED);
    if (isOpenAiEvalsSpec(value)) spec = oneSpec(spec, fieldsOf(value.spec), file, line);
    else if (isFields(value.final_report)) report = value.final_report;
    else if (isEvent(value)) groups.add(String(value.sample_id), line);
    else throw new ImportError(file.name, `line ${line.line} is no event; expected ${EXPECTED}`);
  }
  if (spec === null) throw new ImportError(file.name, "says nowhere what was run; expected a line with `spec`");
  return { spec, report, groups };
}

function oneSpec(before: Fields | null, spec: Fields, file: LineFile, { line }: FileLine): Fields {
  if (before !== null) throw new ImportError(file.name, `line ${line} begins another run; expected the log of one: split it there`);
  return spec;
}

/** Samples are called `name.split.7`: by that number where all have one of their own, else in the order in which they come. */
function numbersOf(ids: readonly string[]): ReadonlyMap<string, number> {
  const own = ids.map((id) => Number(/\.(\d+)$/.exec(id)?.[1] ?? Number.NaN));
  const distinct = own.every(Number.isSafeInteger) && new Set(own).size === own.length;
  return new Map(ids.map((id, index) => [id, distinct ? (own[index] ?? index) : index]));
}

/** Several matches of one sample are attempts at it, each with the answer that was sampled for it. */
function* rolloutsOfEvents(events: readonly Fields[], id: string, example: number, task: string): Generator<ImportedRollout> {
  const of = (type: string): readonly Fields[] => events.filter((event) => event.type === type).map(({ data }) => fieldsOf(data));
  const samplings = of("sampling");
  const matches = of("match");
  const measured = of("metrics");
  const scores = matches.length > 0 ? matches : measured;
  const attempts = Math.max(1, scores.length);
  for (let rollout = 0; rollout < attempts; rollout++) {
    // As many answers as scores: each has its own. Else the last answer is the one that was scored, after what led to it.
    const sampling = samplings.length === attempts ? samplings[rollout] : attempts === 1 ? samplings.at(-1) : undefined;
    const match = matches[rollout];
    const metrics = { ...(match === undefined ? {} : matchScores(match)), ...(measured.length === attempts ? numbersIn(fieldsOf(measured[rollout])) : {}) };
    const others = events
      .filter(({ type }) => !["sampling", "match", "metrics"].includes(String(type)))
      .map(({ type, data }) => ({ type: type ?? null, data: data ?? null }));
    yield {
      example,
      rollout,
      sourceId: id,
      task,
      prompt: messagesOfLog(sampling?.prompt),
      completion: sampledOf(sampling, match),
      answer: (match?.expected ?? null) as Json,
      info: present({
        match: match as Json | undefined,
        metrics: textsIn(measured.length === attempts ? fieldsOf(measured[rollout]) : {}),
        ...(samplings.length > attempts ? { samplings: samplings as unknown as Json } : {}),
        events: others as Json,
      }),
      reward: rewardOf(metrics),
      metrics,
      error: errorOf(events),
      timing: {},
      isCompleted: true,
      isTruncated: null,
      stopCondition: null,
      usage: usageOf(sampling?.usage),
      tools: null,
    };
  }
}

function matchScores({ correct, ...rest }: Fields): Record<string, number> {
  const score = scoreOf(correct);
  return { ...(score === null ? {} : { correct: score }), ...numbersIn(rest) };
}

const numbersIn = (fields: Fields): Record<string, number> =>
  Object.fromEntries(Object.entries(fields).flatMap(([name, value]) => (scoreOf(value) === null ? [] : [[name, scoreOf(value) ?? 0]])));

const textsIn = (fields: Fields): Json =>
  Object.fromEntries(Object.entries(fields).filter((entry): entry is [string, Json] => entry[1] !== undefined && scoreOf(entry[1]) === null));

function rewardOf(metrics: Readonly<Record<string, number>>): number | null {
  const name = ["correct", "accuracy", "score"].find((each) => Object.hasOwn(metrics, each));
  if (name !== undefined) return metrics[name] ?? null;
  const [only, ...others] = Object.values(metrics);
  return others.length === 0 ? (only ?? null) : null;
}

/** A text, or a list of as many as were asked for: the first is what evals score. */
function sampledOf(sampling: Fields | undefined, match: Fields | undefined): Json {
  const sampled = sampling?.sampled ?? match?.sampled ?? null;
  return saidOf(Array.isArray(sampled) ? (sampled[0] ?? null) : sampled);
}

function errorOf(events: readonly Fields[]): ImportedError | null {
  const error = events.find(({ type }) => type === "error");
  if (error === undefined) return null;
  const { type, error: name, message, msg } = fieldsOf(error.data);
  return { name: textOf(type) ?? textOf(name) ?? "Error", message: textOf(message) ?? textOf(msg) ?? "" };
}

function usageOf(usage: unknown): ImportedRollout["usage"] {
  const { prompt_tokens, completion_tokens } = fieldsOf(usage);
  const [input, output] = [numberOf(prompt_tokens), numberOf(completion_tokens)];
  return input === null && output === null ? null : { input_tokens: input ?? 0, output_tokens: output ?? 0 };
}
