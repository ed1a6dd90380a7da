import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { metricsOfRow } from "../../metrics/row-metrics.ts";
import { writeOutput, readMessages } from "../../rollouts/rows/output.ts";
import { ImportError } from "./import-error.ts";
import type { ImportedRollout, ImportedRun } from "./imported-run.ts";
import { countOf, type Fields, fieldsOf, isFields, listOf, numberOf, present, scoreOf, textOf } from "./fields.ts";
import { type LineFile, lineFields } from "./sources.ts";
import { RowGrouping } from "./verifiers-grouping.ts";

const EXPECTED = "a row of verifiers (prompt, completion, reward)";

/** Whether a line is a row of `results.jsonl`. */
export const isVerifiersRow = (value: Fields): boolean => "prompt" in value && "completion" in value && "reward" in value;

/** Whether a document is the `metadata.json` beside it, of any version; `env` is the name of 2025. */
export const isVerifiersMetadata = (value: Fields): boolean => typeof (value.env_id ?? value.env) === "string" && typeof value.model === "string";

/** A results folder of Python's verifiers, of any version before 0.2. Its rows are read twice: once to see which are of one example. */
export async function verifiersRun(file: LineFile, metadata: Fields, metadataName: string): Promise<ImportedRun> {
  if (!isVerifiersMetadata(metadata)) throw new ImportError(metadataName, "names no environment and model; expected the metadata.json of verifiers");
  const grouping = new RowGrouping();
  for await (const line of file.lines()) {
    const row = lineFields(file, line, EXPECTED);
    if (!isVerifiersRow(row)) throw new ImportError(file.name, `line ${line.line} is no row; expected ${EXPECTED}`);
    grouping.add(row);
  }
  const groups = grouping.result();
  const notes: string[] = (await file.isCut()) ? ["the last row is cut and left out"] : [];
  if ("examples" in groups && groups.note !== null) notes.push(groups.note);
  const versions = fieldsOf(metadata.version_info);
  const stated = statedMetrics(metadata);
  const seconds = numberOf(metadata.time);
  return {
    format: "verifiers",
    tool: { name: "verifiers", version: textOf(versions.vf_version) },
    key: "",
    envId: String(metadata.env_id ?? metadata.env),
    envVersion: textOf(versions.env_version),
    envArgs: present(fieldsOf(metadata.env_args)),
    model: String(metadata.model),
    baseUrl: textOf(metadata.base_url),
    samplingArgs: isFields(metadata.sampling_args)
      ? { ...(metadata.sampling_args as JsonObject) }
      : present({ max_tokens: metadata.max_tokens, temperature: metadata.temperature }),
    status: "COMPLETED",
    created: textOf(metadata.date),
    timeMs: numberOf(metadata.time_ms) ?? (seconds === null ? null : seconds * 1_000),
    datasetName: textOf(metadata.dataset),
    stated,
    comparesPrompts: true,
    rewardIs: "verifiers' own `reward`",
    async *rollouts(): AsyncGenerator<ImportedRollout> {
      let at = 0;
      for await (const line of file.lines()) {
        const example = "examples" in groups ? (groups.examples[at++] ?? null) : null;
        yield rolloutOfRow(lineFields(file, line, EXPECTED), example, Object.keys(stated), `${file.name}: line ${line.line}`);
      }
    },
    notes: () => notes,
    groupingProblem: () => ("problem" in groups ? `${groups.problem}, so rollouts are not grouped: no pass@k and no interval` : null),
  };
}

/** In 2025 the average of each metric was a key of its own. */
function statedMetrics(metadata: Fields): Record<string, number> {
  const flat = Object.entries(metadata).flatMap(([key, value]): [string, unknown][] =>
    key.startsWith("avg_") && key !== "avg_metrics" && key !== "avg_error" ? [[key.slice(4), value]] : [],
  );
  const all = [...flat, ...Object.entries(fieldsOf(metadata.avg_metrics))];
  return Object.fromEntries(all.filter((entry): entry is [string, number] => numberOf(entry[1]) !== null));
}

/** Fields that have a place of their own in an imported row, and those that repeat others. */
const PLACED: ReadonlySet<string> = new Set([
  ...["example_id", "id", "src_id", "rollout_index", "prompt", "completion", "answer", "task", "info", "reward", "error", "timing"],
  ...["is_completed", "is_truncated", "stop_condition", "metrics", "tool_defs", "token_usage", "error_chain", "long_error_chain"],
  ...["generation_ms", "scoring_ms", "total_ms"],
]);

/** A row as a rollout. `stated`: names that the metadata has averages of; without them a state column that is a number looks like a metric. */
export function rolloutOfRow(row: Fields, example: number | null, stated: readonly string[], where: string): ImportedRollout {
  const flat = !isFields(row.metrics);
  const named = Object.entries(metricsOfRow(row)).filter(([name]) => !flat || stated.length === 0 || stated.includes(name));
  const metrics = Object.fromEntries(named.flatMap(([name, value]): [string, number][] => (scoreOf(value) === null ? [] : [[name, scoreOf(value) ?? 0]])));
  const more = Object.fromEntries(Object.entries(row).filter(([name]) => !PLACED.has(name) && !Object.hasOwn(metrics, name)));
  const { generation_ms, scoring_ms, total_ms, id, src_id } = row;
  const usage = fieldsOf(row.token_usage);
  const error = row.error ?? null;
  return {
    example,
    rollout: countOf(row.rollout_index),
    sourceId: row.example_id ?? id ?? src_id ?? null,
    task: textOf(row.task),
    prompt: checkedMessages(row.prompt, "prompt", where),
    completion: checkedMessages(row.completion, "completion", where),
    answer: row.answer ?? null,
    info: infoOf(row.info),
    reward: scoreOf(row.reward),
    metrics,
    error: error === null || error === "" ? null : errorOf(error),
    timing: isFields(row.timing) ? (row.timing as JsonObject) : present({ generation_ms, scoring_ms, total_ms }),
    isCompleted: typeof row.is_completed === "boolean" ? row.is_completed : null,
    isTruncated: typeof row.is_truncated === "boolean" ? row.is_truncated : null,
    stopCondition: textOf(row.stop_condition),
    usage: isFields(row.token_usage) ? ({ ...usage } as unknown as NonNullable<ImportedRollout["usage"]>) : null,
    tools: Array.isArray(row.tool_defs) ? (listOf(row.tool_defs) as readonly JsonObject[]) : null,
    more: present(more),
  };
}

/** Messages as today's rows have them; the tools of an old call stand in it one level deeper. */
function checkedMessages(raw: Json | undefined, field: "prompt" | "completion", where: string): Json {
  if (raw === undefined || raw === null || typeof raw === "string") return raw ?? null;
  try {
    return writeOutput({ reward: 0, prompt: readMessages(raw, field), completion: null }).prompt ?? null;
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    throw new ImportError(where, error.message, error);
  }
}

/** A JSON text in some rows. */
function infoOf(info: Json | undefined): JsonObject {
  if (isFields(info)) return info as JsonObject;
  if (typeof info !== "string" || info.trim() === "") return {};
  try {
    const value: unknown = JSON.parse(info);
    if (isFields(value)) return value as JsonObject;
  } catch {
    // Text that is no JSON stays text.
  }
  return { info };
}

/** A text before errors were objects; both have what the other calls its class. */
function errorOf(error: Json): { name: string; message: string } {
  if (!isFields(error)) return { name: "Error", message: typeof error === "string" ? error : JSON.stringify(error) };
  const name = textOf(error.error) ?? textOf(error.type) ?? "Error";
  return { name, message: textOf(error.error_chain_repr) ?? textOf(error.message) ?? name };
}
