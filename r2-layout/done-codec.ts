import { ROLLOUT_ERRORS, type RolloutErrorCode } from "../src/errors/codes.ts";
import { fail, ok, type Result } from "../src/errors/result.ts";
import { MAX_ROW_BYTES } from "../src/limits.ts";
import { type AnsweredCalls, isNothing } from "../src/metrics/cache-usage.ts";
import type { JudgeUsage, RolloutSummary } from "../src/metrics/rollout-summary.ts";

/**
 * The r rollouts of a done unit as one JSON text for one SQLite row. A column per field, since values repeat by field; metric
 * names stand once per run, in a table that the caller keeps beside the rows:
 *
 *   [1, rewards, inputs, outputs, truncated, errors, metrics, finals, codes]
 *   [2, rewards, inputs, outputs, truncated, errors, metrics, finals, codes, judges, prompts]
 *   [3, rewards, inputs, outputs, truncated, errors, metrics, finals, codes, judges, prompts, cluster]
 *   [4, rewards, inputs, outputs, truncated, errors, metrics, finals, codes, judges, prompts, cluster, costs]
 *   [5, rewards, inputs, outputs, truncated, errors, metrics, finals, codes, judges, prompts, cluster, costs, cache]
 *
 * `truncated` lists rollout indices; `errors` is code -> rollout indices; `metrics` is [name index, values] pairs, null where a rollout
 * lacks it; `finals` is [inputs, outputs] of the final context, null where unknown; `codes` is digest -> rollout
 * indices of those that carry one; `judges` is [requests, inputs, outputs] of judges, 0 where none was asked; `prompts` lists the
 * rollouts whose prompt is not that of the unit's first; `cluster` stands for the group of the unit's first; `costs` is [inputs, outputs, requests, inputs,
 * outputs] in nano-dollars: of the model's answers, null where unknown, and of those requests of judges whose cost is known, 0 where it is of none; `cache` is [calls,
 * cached, inputs, outputs] of the model's calls in a run that reads the cache, and the same four of judges where any was asked. Trailing empty columns are left out, and
 * a unit is of the lowest version that has all that it needs.
 */
const VERSIONS = [1, 2, 3, 4, 5] as const;
/** Columns of a text, its version among them. */
const WIDTH: Readonly<Record<(typeof VERSIONS)[number], number>> = { 1: 9, 2: 11, 3: 12, 4: 13, 5: 14 };

/** In every text that has an error or a digest of code, and in no other: whoever looks for errors passes by most units without reading them. */
export const NAMES_SOMETHING = '{"';

/** A row's other columns (unit, segment, offset, length, sequence) fit into this. */
const OTHER_COLUMNS = 1024;

type Column = (number | null)[];
type Judges = [number[], number[], number[]];
type Costs = [Column, Column, number[], number[], number[]];
type Packed = [
  number,
  number[],
  number[],
  number[],
  number[]?,
  Record<string, number[]>?,
  [number, Column][]?,
  [Column, Column]?,
  Record<string, number[]>?,
  (Judges | [])?,
  number[]?,
  (string | null)?,
  (Costs | [])?,
  number[][]?,
];

export interface PackedUnit {
  readonly text: string;
  /** The name table, grown at the end where the unit brought new names; the same array when it did not. */
  readonly names: readonly string[];
}

/**
 * Refuses with `row_too_large` what would not fit a SQLite row, and with `internal` a number that JSON cannot hold (NaN, an
 * infinity): scores are checked where they are made.
 */
export function packUnit(rollouts: readonly RolloutSummary[], names: readonly string[]): Result<PackedUnit> {
  const columns = new Map<string, Column>();
  for (const [index, rollout] of rollouts.entries()) {
    const numbers = [rollout.reward, rollout.input_tokens, rollout.output_tokens, ...Object.values(rollout.metrics)];
    if (!numbers.every(Number.isFinite)) return fail("internal", `rollout ${index} has a number that is not finite`);
    for (const [name, value] of Object.entries(rollout.metrics)) {
      const column: Column = columns.get(name) ?? rollouts.map(() => null);
      column[index] = value;
      columns.set(name, column);
    }
  }
  const grown = [...names];
  const indexOf = new Map(names.map((name, index) => [name, index]));
  const metrics = [...columns].map(([name, column]): [number, Column] => {
    const index = indexOf.get(name) ?? grown.push(name) - 1;
    return [index, column];
  });
  const packed: Packed = [
    1,
    rollouts.map(({ reward }) => reward),
    rollouts.map(({ input_tokens }) => input_tokens),
    rollouts.map(({ output_tokens }) => output_tokens),
    indicesWhere(rollouts, ({ truncated }) => truncated),
    indicesBy(rollouts, ({ error }) => error),
    metrics,
    [rollouts.map(({ final_input_tokens }) => final_input_tokens ?? null), rollouts.map(({ final_output_tokens }) => final_output_tokens ?? null)],
    indicesBy(rollouts, ({ env_digest = null }) => env_digest),
    judgesOf(rollouts),
    indicesWhere(rollouts, ({ other_prompt }) => other_prompt === true),
    rollouts[0]?.cluster ?? null,
    costsOf(rollouts),
    cacheColumns(rollouts),
  ];
  const text = JSON.stringify(withoutEmptyTail(packed));
  // Numbers, error codes and digests only: a byte per character.
  if (text.length > MAX_ROW_BYTES - OTHER_COLUMNS) {
    return fail("row_too_large", `summaries of ${rollouts.length} rollouts do not fit one row`, "use fewer rollouts per example or fewer metrics");
  }
  return ok({ text, names: grown.length === names.length ? names : grown });
}

/** The reverse; `names` as it was then, or grown since. Metrics keep the order in which the unit first had them. */
export function unpackUnit(text: string, names: readonly string[]): Result<RolloutSummary[]> {
  let packed: unknown;
  try {
    packed = JSON.parse(text);
  } catch {
    return fail("internal", "a stored unit is not JSON");
  }
  const version: unknown = Array.isArray(packed) ? packed[0] : null;
  if (!VERSIONS.some((known) => known === version))
    return fail("stored_version_unknown", `a stored unit has version ${JSON.stringify(version)}; known: ${VERSIONS.join(", ")}`);
  const [
    ,
    rewards,
    inputs,
    outputs,
    truncated = [],
    errors = {},
    metrics = [],
    finals,
    digests = {},
    judges = [],
    prompts = [],
    cluster = null,
    costs = [],
    cache = [],
  ] = packed as Packed;
  const columns = [rewards, inputs, outputs, ...metrics.map(([, column]) => column), ...(finals ?? []), ...judges, ...costs, ...cache];
  if (!columns.every((column) => Array.isArray(column) && column.length === rewards.length))
    return fail("internal", "columns of a stored unit differ in length");
  const named: [string, Column][] = [];
  for (const [index, column] of metrics) {
    const name = names[index];
    if (name === undefined) return fail("internal", `a stored unit names metric ${index} of ${names.length}`);
    named.push([name, column]);
  }
  const cut = new Set(truncated);
  const others = new Set(prompts);
  const codes = new Map<number, RolloutErrorCode>();
  for (const [code, indices] of Object.entries(errors)) {
    if (!Object.hasOwn(ROLLOUT_ERRORS, code)) return fail("stored_version_unknown", `a stored unit has error code ${JSON.stringify(code)}`);
    for (const index of indices) codes.set(index, code as RolloutErrorCode);
  }
  const marks = new Map<number, string>();
  for (const [digest, indices] of Object.entries(digests)) for (const index of indices) marks.set(index, digest);
  return ok(
    rewards.map((reward, index) => {
      const finalInput = finals?.[0][index] ?? null;
      const finalOutput = finals?.[1][index] ?? null;
      const env_digest = marks.get(index);
      const requests = judges[0]?.[index] ?? 0;
      return {
        reward,
        error: codes.get(index) ?? null,
        input_tokens: inputs[index] ?? 0,
        output_tokens: outputs[index] ?? 0,
        truncated: cut.has(index),
        metrics: Object.fromEntries(named.flatMap(([name, column]) => (typeof column[index] === "number" ? [[name, column[index]]] : []))),
        ...(finalInput === null ? {} : { final_input_tokens: finalInput }),
        ...(finalOutput === null ? {} : { final_output_tokens: finalOutput }),
        ...(env_digest === undefined ? {} : { env_digest }),
        ...modelCost(costs, index),
        ...(requests === 0
          ? {}
          : { judges: { requests, input_tokens: judges[1]?.[index] ?? 0, output_tokens: judges[2]?.[index] ?? 0, ...judgesCost(costs, index) } }),
        ...(others.has(index) ? { other_prompt: true as const } : {}),
        ...(cluster === null ? {} : { cluster }),
        ...cacheAt(cache, index),
      };
    }),
  );
}

const indicesWhere = (rollouts: readonly RolloutSummary[], test: (rollout: RolloutSummary) => boolean): number[] =>
  rollouts.flatMap((rollout, index) => (test(rollout) ? [index] : []));

function judgesOf(rollouts: readonly RolloutSummary[]): Judges | [] {
  if (rollouts.every(({ judges }) => judges === undefined)) return [];
  const column = (name: "requests" | "input_tokens" | "output_tokens"): number[] => rollouts.map(({ judges }) => judges?.[name] ?? 0);
  return [column("requests"), column("input_tokens"), column("output_tokens")];
}

function costsOf(rollouts: readonly RolloutSummary[]): Costs | [] {
  if (rollouts.every(({ cost, judges }) => cost === undefined && judges?.priced === undefined)) return [];
  const own = (name: "input_nano" | "output_nano"): Column => rollouts.map(({ cost }) => cost?.[name] ?? null);
  const judged = (name: "requests" | "input_nano" | "output_nano"): number[] => rollouts.map(({ judges }) => judges?.priced?.[name] ?? 0);
  return [own("input_nano"), own("output_nano"), judged("requests"), judged("input_nano"), judged("output_nano")];
}

function modelCost([inputs, outputs]: Costs | [], index: number): Pick<RolloutSummary, "cost"> {
  const [input_nano, output_nano] = [inputs?.[index] ?? null, outputs?.[index] ?? null];
  return input_nano === null || output_nano === null ? {} : { cost: { input_nano, output_nano } };
}

function judgesCost([, , of, inputs, outputs]: Costs | [], index: number): Pick<JudgeUsage, "priced"> {
  const requests = of?.[index] ?? 0;
  return requests === 0 ? {} : { priced: { requests, input_nano: inputs?.[index] ?? 0, output_nano: outputs?.[index] ?? 0 } };
}

/** The numbers of an `AnsweredCalls`, in the order of their columns. */
const ANSWERED = ["calls", "cached", "input_tokens", "output_tokens"] as const;

function cacheColumns(rollouts: readonly RolloutSummary[]): number[][] {
  if (rollouts.every(({ cache }) => cache === undefined)) return [];
  const own = ANSWERED.map((name) => rollouts.map(({ cache }) => cache?.[name] ?? 0));
  const judges = ANSWERED.map((name) => rollouts.map(({ cache }) => cache?.judges?.[name] ?? 0));
  return rollouts.every(({ cache }) => cache?.judges === undefined) ? own : [...own, ...judges];
}

function cacheAt(columns: readonly number[][], index: number): Pick<RolloutSummary, "cache"> {
  const at = (from: number): AnsweredCalls => {
    const [calls = 0, cached = 0, input_tokens = 0, output_tokens = 0] = columns.slice(from, from + ANSWERED.length).map((column) => column[index]);
    return { calls, cached, input_tokens, output_tokens };
  };
  const judges = at(ANSWERED.length);
  if (isNothing(at(0)) && isNothing(judges)) return {};
  return { cache: { ...at(0), ...(isNothing(judges) ? {} : { judges }) } };
}

function indicesBy(rollouts: readonly RolloutSummary[], keyOf: (rollout: RolloutSummary) => string | null): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const [index, rollout] of rollouts.entries()) {
    const key = keyOf(rollout);
    if (key === null) continue;
    const known = found[key];
    if (known === undefined) found[key] = [index];
    else known.push(index);
  }
  return found;
}

/** Most units are not truncated, did not fail, know no final context and asked no judge: their rows end earlier, in a version that knows so much. */
function withoutEmptyTail(packed: Packed): unknown[] {
  const [, rewards, inputs, outputs, truncated, errors, metrics, finals, codes, judges, prompts, cluster, costs, cache] = packed;
  const tail: [unknown, boolean][] = [
    [truncated, truncated?.length === 0],
    [errors, Object.keys(errors ?? {}).length === 0],
    [metrics, metrics?.length === 0],
    [finals, finals?.every((column) => column.every((value) => value === null)) ?? true],
    [codes, Object.keys(codes ?? {}).length === 0],
    [judges, judges?.length === 0],
    [prompts, prompts?.length === 0],
    [cluster, cluster === null],
    [costs, costs?.length === 0],
    [cache, cache?.length === 0],
  ];
  while (tail.at(-1)?.[1] === true) tail.pop();
  const columns = [rewards, inputs, outputs, ...tail.map(([value]) => value)];
  return [VERSIONS.find((version) => columns.length < WIDTH[version]) ?? 5, ...columns];
}
