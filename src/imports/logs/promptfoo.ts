import { canonicalJson } from "../../config/canonical-json.ts";
import type { Json } from "../../config/plan/run-config.ts";
import { ImportError } from "./import-error.ts";
import type { ImportedError, ImportedRollout, ImportedRun } from "./imported-run.ts";
import { countOf, type Fields, fieldsOf, isFields, listOf, numberOf, present, scoreOf, textOf } from "./fields.ts";
import { messagesInText, saidOf } from "./messages-of-log.ts";

/** Whether a document is promptfoo's JSON export. */
export const isPromptfoo = (value: Fields): boolean => isFields(value.results) && Array.isArray(value.results.results) && isFields(value.results.stats);

/** What stands in `failureReason` where the call itself failed. */
const CALL_FAILED = 2;

/**
 * One run per column of its table: a provider with a prompt. `fallbackName`: of an evaluation without a description.
 */
export function promptfooRuns(file: string, document: Fields, fallbackName: string): readonly ImportedRun[] {
  const all = fieldsOf(document.results);
  const results = listOf(all.results);
  const columns = new Map<string, Fields[]>();
  for (const [index, result] of results.entries()) {
    if (countOf(result.testIdx) === null || !isFields(result.provider))
      throw new ImportError(file, `results.results[${index}] has no testIdx and provider; expected a result of promptfoo`);
    const column = String(countOf(result.promptIdx) ?? canonicalJson([result.provider as Json, fieldsOf(result.prompt).label ?? null]));
    const rows = columns.get(column);
    if (rows === undefined) columns.set(column, [result]);
    else rows.push(result);
  }
  const prompts = new Set(results.map(({ prompt }) => String(fieldsOf(prompt).label ?? fieldsOf(prompt).raw)));
  const name = textOf(fieldsOf(document.config).description) ?? fallbackName;
  return [...columns].sort(([a], [b]) => Number(a) - Number(b)).map(([key, rows]) => columnRun(document, { key, rows, name, several: prompts.size > 1 }));
}

interface Column {
  readonly key: string;
  readonly rows: readonly Fields[];
  readonly name: string;
  /** Whether the export has several prompts, which are then settings of the runs. */
  readonly several: boolean;
}

function columnRun(document: Fields, { key, rows, name, several }: Column): ImportedRun {
  const all = fieldsOf(document.results);
  const stated = fieldsOf(listOf(all.prompts)[Number(key)]);
  const provider = fieldsOf(rows[0]?.provider);
  const settings = providerSettings(document, provider);
  const label = textOf(fieldsOf(rows[0]?.prompt).label);
  const repeats = repeatsOf(document);
  const examples = examplesOf(rows, repeats);
  return {
    format: "promptfoo",
    tool: { name: "promptfoo", version: textOf(fieldsOf(document.metadata).promptfooVersion) },
    key,
    envId: name,
    envVersion: null,
    envArgs: several && label !== null ? { prompt: label } : {},
    model: textOf(provider.id) ?? textOf(provider.label) ?? "unknown",
    baseUrl: textOf(settings.apiBaseUrl),
    samplingArgs: Object.fromEntries(Object.entries(present(settings)).filter(([option]) => SAMPLING.has(option))),
    status: "COMPLETED",
    created: textOf(all.timestamp),
    timeMs: numberOf(fieldsOf(all.stats).durationMs),
    datasetName: null,
    stated: statedNumbers(fieldsOf(stated.metrics)),
    comparesPrompts: false,
    rewardIs: "promptfoo's `score`",
    async *rollouts(): AsyncGenerator<ImportedRollout> {
      for (const [index, row] of rows.entries()) yield rolloutOfResult(row, examples.numbers[index] ?? 0, name);
    },
    notes: () => (examples.note === null ? [] : [examples.note]),
    groupingProblem: () => null,
  };
}

/** Options of a provider that say how the model is asked. Its others may hold keys, and are left where they are. */
const SAMPLING: ReadonlySet<string> = new Set([
  ...["temperature", "max_tokens", "max_completion_tokens", "top_p", "top_k", "seed", "stop", "presence_penalty", "frequency_penalty"],
  ...["reasoning_effort", "n"],
]);

function providerSettings(document: Fields, { id, label }: Fields): Fields {
  const same = listOf(fieldsOf(document.config).providers).find((each) => each.id === id && (textOf(each.label) ?? null) === (textOf(label) ?? null));
  return fieldsOf(same?.config);
}

/** How often each test was run; null: the export does not say. */
function repeatsOf(document: Fields): number | null {
  const { runtimeOptions, config } = document;
  const places = [runtimeOptions, fieldsOf(config).evaluateOptions, fieldsOf(config).commandLineOptions];
  return places.map((place) => countOf(fieldsOf(place).repeat)).find((repeat) => repeat !== null) ?? null;
}

/**
 * Examples of rows. A repeated test has a `testIdx` of its own each time: rows with the same variables and assertions are then attempts at one
 * example, as long as there are as many of them as the test was repeated.
 */
function examplesOf(rows: readonly Fields[], repeats: number | null): { readonly numbers: readonly number[]; readonly note: string | null } {
  const each = rows.map(({ testIdx }) => countOf(testIdx) ?? 0);
  if (repeats === null || repeats < 2) return { numbers: each, note: null };
  const first = new Map<string, number>();
  const counts = new Map<string, number>();
  const keys = rows.map(({ vars, testCase }) =>
    canonicalJson([(vars ?? null) as Json, (fieldsOf(testCase).assert ?? null) as Json, (fieldsOf(testCase).description ?? null) as Json]),
  );
  for (const [index, key] of keys.entries()) {
    first.set(key, Math.min(first.get(key) ?? Number.POSITIVE_INFINITY, each[index] ?? 0));
    counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  if ([...counts.values()].some((count) => count > repeats))
    return {
      numbers: each,
      note: `tests were repeated ${repeats} times and some are equal, so that rows do not tell which are of one test: each is an example of its own`,
    };
  // In the order of the tests, without the gaps that repeats leave.
  const order = [...first].sort(([, a], [, b]) => a - b).map(([key]) => key);
  const numbers = new Map(order.map((key, number) => [key, number]));
  return { numbers: keys.map((key) => numbers.get(key) ?? 0), note: null };
}

function rolloutOfResult(result: Fields, example: number, task: string): ImportedRollout {
  const { vars, testCase, gradingResult, prompt, cost, metadata } = result;
  const response = fieldsOf(result.response);
  const raw = fieldsOf(prompt).raw;
  const score = scoreOf(result.score);
  const pass = scoreOf(result.success);
  const named = Object.entries(fieldsOf(result.namedScores)).flatMap(([name, value]): [string, number][] => {
    const number = scoreOf(value);
    return number === null ? [] : [[name, number]];
  });
  const { http: _http, _promptfooFileMetadata: _file, ...kept } = fieldsOf(metadata);
  const latency = numberOf(result.latencyMs);
  const stop = textOf(response.finishReason);
  const error = errorOf(result);
  const { reason, componentResults } = fieldsOf(gradingResult);
  return {
    example,
    rollout: null,
    sourceId: result.testIdx ?? null,
    task,
    prompt: typeof raw === "string" ? messagesInText(raw) : null,
    completion: saidOf(response.output),
    answer: null,
    info: present({
      vars,
      description: fieldsOf(testCase).description,
      assert: fieldsOf(testCase).assert,
      grading: present({ reason, componentResults }),
      cost: cost === 0 ? null : cost,
      metadata: present(kept),
    }),
    reward: score,
    metrics: { ...(score === null ? {} : { score }), ...(pass === null ? {} : { pass }), ...Object.fromEntries(named) },
    error,
    timing: latency === null ? {} : { generation_ms: latency },
    isCompleted: true,
    isTruncated: stop === null ? null : stop === "length" || stop === "max_tokens",
    stopCondition: stop,
    usage: usageOf(response.tokenUsage),
    tools: null,
  };
}

/** A test that fails has an `error` too: what the assertion says. */
function errorOf({ error, failureReason, gradingResult }: Fields): ImportedError | null {
  const message = textOf(error);
  if (message === null) return null;
  const failed = typeof failureReason === "number" ? failureReason === CALL_FAILED : !isFields(gradingResult);
  return failed ? { name: "Error", message } : null;
}

function usageOf(usage: unknown): ImportedRollout["usage"] {
  const { prompt, completion } = fieldsOf(usage);
  const [input, output] = [numberOf(prompt), numberOf(completion)];
  return input === null && output === null ? null : { input_tokens: input ?? 0, output_tokens: output ?? 0 };
}

/** What promptfoo has of a column: sums, of which the averages are over its tests, and named ones over those that have them, by weight. */
function statedNumbers({
  score,
  testPassCount,
  testFailCount,
  testErrorCount,
  namedScores,
  namedScoreWeights,
  namedScoresCount,
}: Fields): Record<string, number> {
  const [passed, failed, errors] = [testPassCount, testFailCount, testErrorCount].map((count) => numberOf(count) ?? 0);
  const tests = (passed ?? 0) + (failed ?? 0) + (errors ?? 0);
  if (tests === 0) return {};
  const sum = numberOf(score);
  const named = Object.entries(fieldsOf(namedScores)).flatMap(([name, total]): [string, number][] => {
    const weight = numberOf(fieldsOf(namedScoreWeights)[name]) ?? numberOf(fieldsOf(namedScoresCount)[name]) ?? 0;
    const value = numberOf(total);
    return value === null || weight === 0 ? [] : [[name, value / weight]];
  });
  return { ...(sum === null ? {} : { score: sum / tests }), pass: (passed ?? 0) / tests, ...Object.fromEntries(named) };
}
