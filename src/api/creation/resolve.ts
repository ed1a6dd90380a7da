import type { EnvironmentProblem, EnvironmentRequest } from "../../environments/definition/definition.ts";
import type { ArgumentFacts } from "../../environments/definition/describe.ts";
import type { KeyLookup } from "../../environments/definition/keys.ts";
import { runFolder } from "../../../r2-layout/keys.ts";
import { batchField, batchProblem, usualMinutes } from "../../config/plan/run-batch.ts";
import { locationOf, OPTIONS, type OptionName, type OptionValue } from "../../config/options/options.ts";
import { formatStopRule, NO_STOP_RULE, parseStopRule } from "../../config/options/stop-rule.ts";
import { MAX_CONFIG_BYTES } from "../../limits.ts";
import { limitsOfRow } from "../../config/endpoints/limit-rows.ts";
import { pricesOfRow } from "../../config/endpoints/price-rows.ts";
import { NEWEST_TABLE } from "../../prices/tables.ts";
import { WORKERS_AI_BASE_URL } from "../../config/endpoints/providers.ts";
import { type JsonObject, ORDER_SEED, type Replica, type ResultsShape, type RunConfig } from "../../config/plan/run-config.ts";
import { cacheDaysProblem, runCache } from "../../config/plan/run-cache.ts";
import type { LinkedPin } from "../../config/plan/linked-pin.ts";
import type { PublishedPin } from "../../config/plan/published-pin.ts";
import { foldSamplingArgs } from "../../config/options/sampling.ts";

/** What the resolution needs to know of an environment; its definition has more. */
export interface EnvironmentFacts {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  /** What its code was made from. */
  readonly source: string;
  /** Of one that a team published; absent = the service was put together with it. */
  readonly published?: PublishedPin;
  /** Of one whose code runs elsewhere, under a name of the team; absent = it does not. */
  readonly linked?: LinkedPin;
  /** Variables whose values it declares that it needs; absent = none. */
  readonly keys?: readonly string[];
  /** Hosts that its code sends requests to itself; absent = none. */
  readonly hosts?: readonly string[];
  /** What it takes; absent where that is not known without its code. */
  readonly describedArgs?: () => readonly ArgumentFacts[];
  /** Whether its code has an isolate of its own, of which an executor opens few different ones; absent = no. */
  readonly isIsolated?: boolean;
  /** Shape of the rows that its library writes itself; absent = they are ours. */
  readonly results_shape?: ResultsShape;
  /** Values that stand in nothing that is said of it; absent = none. */
  readonly hides?: () => readonly string[];
  /** Used where the request says nothing. */
  readonly defaults: { readonly num_examples?: number | undefined; readonly rollouts_per_example?: number | undefined };
  /** What keeps a run from using it, by option; null when nothing does. Reads no data set, and loads its code. Throws `missing_key` and `environment_failed`. */
  check(request: EnvironmentRequest, key?: KeyLookup): EnvironmentProblem | null | Promise<EnvironmentProblem | null>;
}

/** Options that a creation carries. */
type ConfigOption = { [Name in OptionName]: (typeof OPTIONS)[Name]["http"] extends null ? never : Name }[OptionName];

/** A creation as it was asked for: validated one by one, nothing filled in. */
export type RunRequest = { readonly [Name in ConfigOption]?: OptionValue<Name> | undefined } & {
  readonly name?: string | null | undefined;
  readonly dataset_name?: string | undefined;
  /** Several places that serve the model; what one leaves open is the request's. */
  readonly replicas?:
    | readonly {
        readonly api_base_url: string;
        readonly api_key_var?: string | undefined;
        readonly headers?: Readonly<Record<string, string>> | undefined;
      }[]
    | undefined;
  readonly common_limit?: RunConfig["common_limit"] | undefined;
  readonly hosted?: JsonObject | undefined;
  /** Of the folder that is gone on with. */
  readonly results_shape?: ResultsShape | undefined;
};

export interface ResolveContext {
  readonly environment: EnvironmentFacts;
  readonly attended: boolean;
  /** Endpoint of a request that names none, and the variable of its key. */
  readonly baseUrl: string;
  readonly keyVar: string;
}

/** A config that still lacks its identity, which the Registry gives. */
export type UnnamedConfig = Omit<RunConfig, "run_id" | "created_at">;

interface Issue {
  readonly loc: readonly string[];
  readonly msg: string;
}

export type Resolution = { readonly ok: true; readonly config: UnnamedConfig } | { readonly ok: false; readonly issues: readonly Issue[] };

/** Fills in what the request leaves open, and checks what no option can check alone. Pure. */
export function resolveRun(request: RunRequest, { environment, attended, baseUrl, keyVar }: ResolveContext): Resolution {
  const model = request.model ?? OPTIONS.model.default;
  const problem = folderProblem(environment.id, model);
  if (problem !== null) return { ok: false, issues: [{ loc: locationOf("model"), msg: problem }] };
  if (request.shuffle_seed !== undefined && request.shuffle !== true)
    return { ok: false, issues: [{ loc: locationOf("shuffle_seed"), msg: "says which examples are taken, and shuffle is not asked for" }] };
  const days = cacheDaysProblem(request);
  if (days !== null) return { ok: false, issues: [{ loc: locationOf("cache_days"), msg: days }] };
  const rule = stopRuleIn(request);
  const shape = request.results_shape ?? environment.results_shape;
  if ("msg" in rule) return { ok: false, issues: [rule] };
  const config: UnnamedConfig = {
    version: 1,
    name: blankToNull(request.name),
    env_id: environment.id,
    env_version: environment.version,
    ...(environment.published === undefined ? {} : { published: environment.published }),
    ...(environment.linked === undefined ? {} : { linked: environment.linked }),
    env_args: request.env_args ?? {},
    model,
    ...placesFor(request, { baseUrl, keyVar }),
    api_client_type: request.api_client_type ?? OPTIONS.api_client_type.default,
    num_examples: request.num_examples ?? environment.defaults.num_examples ?? OPTIONS.num_examples.default,
    rollouts_per_example: request.rollouts_per_example ?? environment.defaults.rollouts_per_example ?? OPTIONS.rollouts_per_example.default,
    max_concurrent: request.max_concurrent ?? OPTIONS.max_concurrent.default,
    sampling_args: foldSamplingArgs(request.sampling_args ?? {}),
    independent_scoring: request.independent_scoring ?? OPTIONS.independent_scoring.default,
    max_retries: request.max_retries ?? OPTIONS.max_retries.default,
    timeout_minutes: request.timeout_minutes ?? usualMinutes(request, attended),
    state_columns: (request.state_columns ?? []).map((column) => column.trim()).filter((column) => column !== ""),
    ...(request.shuffle === true ? { shuffle_seed: request.shuffle_seed ?? OPTIONS.shuffle_seed.default } : {}),
    ...given("cluster_by", request.cluster_by),
    ...((request.order ?? OPTIONS.order.default) === "permuted" ? { order_seed: ORDER_SEED } : {}),
    ...rule,
    ...filled("headers", request.headers),
    ...filled("headers_from_state", request.headers_from_state),
    ...filled("extra_env_kwargs", request.extra_env_kwargs),
    ...given("max_concurrent_generation", request.max_concurrent_generation),
    ...given("max_concurrent_scoring", request.max_concurrent_scoring),
    ...given("priority", request.priority),
    ...limitsIn(request),
    ...given("max_cost", request.max_cost),
    prices: { version: 1, table: NEWEST_TABLE.date, given: (request.prices ?? []).flatMap((row) => pricesOfRow(row, [])) },
    ...given("common_limit", request.common_limit),
    ...given("cache", runCache(request)),
    ...batchField(request.batch),
    ...given("num_workers", request.num_workers === "auto" ? undefined : request.num_workers),
    ...(request.no_interleave_scoring === true ? { no_interleave_scoring: true } : {}),
    ...given("sandbox", request.sandbox),
    ...given("heartbeat_url", request.heartbeat_url),
    ...given("stall_minutes", request.stall_minutes),
    ...(request.verbose === true ? { verbose: true } : {}),
    ...(request.tags === undefined || request.tags.length === 0 ? {} : { tags: [...new Set(request.tags)] }),
    ...given("dataset_name", request.dataset_name),
    ...given("results_shape", shape === "0.1.13" ? undefined : shape),
    hosted: request.hosted ?? {},
    attended,
  };
  const batched = batchProblem(config);
  if (batched !== null) return { ok: false, issues: [{ loc: locationOf(batched.option), msg: batched.msg }] };
  const bytes = bytesOf(JSON.stringify(config));
  if (bytes <= MAX_CONFIG_BYTES) return { ok: true, config };
  return { ok: false, issues: [{ loc: ["body", "eval_config"], msg: `makes a config of ${bytes} bytes; at most ${MAX_CONFIG_BYTES} are stored` }] };
}

/** The rule to stop by, as it is written down. */
function stopRuleIn({ stop_when = NO_STOP_RULE, stop_alpha, cluster_by, order }: RunRequest): Pick<RunConfig, "stop_when" | "stop_alpha"> | Issue {
  if (stop_when.trim() !== NO_STOP_RULE && cluster_by !== undefined)
    return {
      loc: locationOf("stop_when"),
      msg: "looks at one example after the other, and cluster_by says that they are not independent: leave one of the two out",
    };
  if (stop_when.trim() !== NO_STOP_RULE && order === "data")
    return { loc: locationOf("stop_when"), msg: "is for examples in a random order, and that of the data set (order) is none: leave one of the two out" };
  if (stop_when.trim() !== NO_STOP_RULE) return { stop_when: formatStopRule(parseStopRule(stop_when)), stop_alpha: stop_alpha ?? OPTIONS.stop_alpha.default };
  return stop_alpha === undefined ? {} : { loc: locationOf("stop_alpha"), msg: "says how often stop_when may be wrong, and that is not asked for" };
}

/** As they stand by now: whoever named an endpoint has written its places out. */
const limitsIn = ({ limits = [] }: RunRequest): Pick<RunConfig, "limits"> =>
  limits.length === 0 ? {} : { limits: limits.flatMap((row) => limitsOfRow(row, [])) };

/** Where the model is called: the place a request names, or its replicas with the first of them in the place's fields. */
function placesFor({ api_client_type, api_base_url, api_key_var, replicas = [] }: RunRequest, own: Pick<ResolveContext, "baseUrl" | "keyVar">) {
  const key = api_key_var ?? own.keyVar;
  const places = replicas.map(
    (replica): Replica => ({ base_url: replica.api_base_url, api_key_var: replica.api_key_var ?? key, ...filled("headers", replica.headers) }),
  );
  const [first] = places;
  if (first !== undefined) return { base_url: first.base_url, api_key_var: first.api_key_var, replicas: places };
  return { base_url: api_client_type === "workers_ai" ? WORKERS_AI_BASE_URL : (api_base_url ?? own.baseUrl), api_key_var: key };
}

/** A table that says something; an empty one is as good as none. */
function filled<Name extends string, Table extends object>(name: Name, table: Table | undefined): { [Key in Name]?: Table } {
  return table === undefined || Object.keys(table).length === 0 ? {} : ({ [name]: table } as { [Key in Name]?: Table });
}

/** A field that a config has only when it was asked for. */
function given<Name extends keyof RunConfig>(name: Name, value: RunConfig[Name] | undefined): { [Key in Name]?: RunConfig[Key] } {
  return value === undefined ? {} : ({ [name]: value } as { [Key in Name]?: RunConfig[Key] });
}

const bytesOf = (text: string): number => new TextEncoder().encode(text).byteLength;

const blankToNull = (name: string | null | undefined): string | null => (name === undefined || name === null || name.trim() === "" ? null : name.trim());

/** What keeps a run from having a results folder, which is a folder on disk too: one name there has at most 255 bytes. */
function folderProblem(envId: string, model: string): string | null {
  try {
    const folder = runFolder(envId, model, "00000000").split("/").at(-2) ?? "";
    return bytesOf(folder) <= 255 ? null : "too long for the name of a results folder";
  } catch (thrown) {
    if (thrown instanceof RangeError) return "holds characters that no results folder can be named with (a backslash, a control character)";
    throw thrown;
  }
}
