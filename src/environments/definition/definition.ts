import type { z } from "zod";
import { didYouMean } from "../../config/nearest.ts";
import type { ClientType, JsonObject } from "../../config/plan/run-config.ts";
import type { DatasetHost } from "../../datasets/host.ts";
import { datasetRows } from "../../datasets/rows.ts";
import type { SandboxChoice } from "../../config/sandbox-names.ts";
import { DATASET_ARGS, type DatasetArgs, type DatasetDefaults, type DatasetSpec, datasetName, datasetSpec } from "../../datasets/spec.ts";
import { declaredHostsProblem } from "../../config/endpoints/environment-hosts.ts";
import { isKeyVariable } from "../../config/endpoints/secrets.ts";
import { EdgewiseError, type Failure, failureOf } from "../../errors/result.ts";
import type { Printer } from "../../logging/environment-line.ts";
import { type Access, accessProblem } from "./access.ts";
import { openEnvConnect, platformNetwork } from "../openenv/openenv-connect.ts";
import type { OpenEnvConnect } from "../openenv/openenv-server.ts";
import { noSandboxes } from "../sandbox/no-sandboxes.ts";
import type { Environment } from "../kinds/environment.ts";
import type { Sandbox } from "../sandbox/sandbox.ts";
import { askedFor, NoSandboxError } from "../sandbox/asked-for.ts";
import type { RowSource } from "./examples.ts";
import { environmentFailed } from "../../rollouts/file-access.ts";
import { ensureKeys, type KeyLookup, MissingKeyError } from "./keys.ts";
import type { Client } from "../../rollouts/types.ts";

/** Sends a request, as `fetch` does. */
export type EnvironmentFetch = (url: string, init: RequestInit) => Promise<Response>;

/** What the host of the library can do for an environment. */
export interface LoadContext {
  /** Reads the data set that an environment or its arguments name. */
  readonly datasets: DatasetHost;
  /** Rows of a data set; default: as `datasets` reads them. */
  readonly rows?: (spec: DatasetSpec) => RowSource;
  /** Values of key variables; only what the definition declares is asked for. Default: the variables of the process. */
  readonly key?: KeyLookup;
  /** Secrets that the team gave this environment or the run, beside what the definition declares; default: none. */
  readonly secrets?: Readonly<Record<string, string>>;
  /** Settings that the team gave this environment; default: none. */
  readonly variables?: Readonly<Record<string, string>>;
  /** Clients for models beside the one that is evaluated; without it the environment is refused one. */
  readonly client?: (endpoint: BoundEndpoint) => Client;
  /** Sandboxes of the driver that the run chose, else of the one that is named, else of the host's usual one. Throws `NoSandboxError`; without it there are none, which is told when the first is made. */
  readonly sandbox?: (name?: string) => Sandbox;
  /** Reaches OpenEnv servers; default: by the platform's own way, to addresses that data sets may be read from too. */
  readonly openEnv?: OpenEnvConnect;
  /** Takes what the environment's code prints, where that does not run in this isolate; default: it goes nowhere. */
  readonly print?: Printer["print"];
  /** Does work that something outside of the host has begun, a message, as the host's own: what is hidden in its texts is hidden there too. */
  readonly inside?: <T>(work: () => T) => T;
  /** Sends requests to the process that the environment's code is in, where it is in one, counted with the host's own; default: as nobody counts them. */
  readonly outward?: EnvironmentFetch;
  /** One of the rubrics that the environment offers (`rubrics`), to score by in place of its own; default: its own. */
  readonly rubric?: string;
}

/** A model that an environment calls itself, as a judge or another player: the host reads the key and keeps it. */
export interface BoundEndpoint {
  readonly base_url: string;
  /** The variable that holds the key, by name. */
  readonly api_key_var: string;
  /** Default `openai_chat_completions`. */
  readonly client_type?: ClientType;
}

/** What a loader is given besides its own arguments. */
export interface LoaderContext<Dataset extends DatasetDefaults | undefined = undefined> {
  /** Rows of the data set that the arguments name, or else the definition; null when neither does. */
  readonly dataset: Dataset extends DatasetDefaults ? RowSource : RowSource | null;
  /**
   * Rows of a further data set (a Hugging Face id or an https URL), beside the one that arguments may name. They are read where `dataset` is: when a
   * run's rows are pinned, and not while rollouts are played. Throws `invalid_request` for a reference that is none.
   */
  readonly rows: (dataset: DatasetDefaults) => RowSource;
  /** Values of the keys that the definition declares, and of secrets that were linked to the environment or given with the run; of no others. */
  readonly keys: Readonly<Record<string, string>>;
  /** Variables of the environment (`npx edgewise env var`), as they were when the run was created. */
  readonly variables: Readonly<Record<string, string>>;
  /** A client that is bound to its key: environments call models without ever holding one. Throws `missing_key`. */
  readonly client: (endpoint: BoundEndpoint) => Client;
  /**
   * Sandboxes, as the run or the service chose them (`--sandbox`); `name`: whose the environment would rather have (`local`, `docker`, `prime`, `e2b`, `cloudflare`).
   * An environment that asks for some needs a run that allows them. Throws where there are none, naming what to set.
   */
  readonly sandbox: (name?: string) => Sandbox;
  /** Reaches OpenEnv servers, deployed those with a public https address alone. Throws `invalid_request` for another. */
  readonly openEnv: OpenEnvConnect;
}

export interface Defaults {
  readonly num_examples?: number;
  readonly rollouts_per_example?: number;
}

/** What a run asks of an environment. */
export interface EnvironmentRequest {
  readonly env_args: JsonObject;
  /** Options set after loading (`-x`). */
  readonly extra_env_kwargs?: JsonObject;
  readonly independent_scoring?: boolean;
  /** Its requests go out in batches; absent = they do not. */
  readonly batch?: boolean;
  /** One of those that it offers; absent = its own. */
  readonly rubric?: string;
  /** Variables of the keys of the models under evaluation: an environment may not declare them. */
  readonly model_keys?: readonly string[];
  /** What the run allows the environment; absent = everything. */
  readonly allowed?: readonly Access[];
  /** Whose sandboxes it may have; absent = that is not looked at. */
  readonly sandbox?: SandboxChoice;
  /** As `LoadContext` has them. */
  readonly secrets?: Readonly<Record<string, string>>;
  readonly variables?: Readonly<Record<string, string>>;
}

/** Why a run cannot use an environment, and which of its options says so. */
export interface EnvironmentProblem {
  readonly option:
    | "env_args"
    | "extra_env_kwargs"
    | "independent_scoring"
    | "batch"
    | "api_key_var"
    | "allow_sandbox_access"
    | "allow_instances_access"
    | "rubric"
    | "sandbox";
  readonly message: string;
}

export interface DefinitionOptions<Args extends z.ZodObject, Dataset extends DatasetDefaults | undefined = undefined> {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  /** Every environment also takes `dataset`, `dataset_config`, `dataset_split`, `dataset_revision` and `dataset_columns`. */
  readonly args: Args;
  /** What is read when the arguments name no data set. */
  readonly dataset?: Dataset;
  /** Variables whose values the environment needs, beyond the model's key: `["SERPER_API_KEY"]`. A run without one is refused at creation. */
  readonly keys?: readonly string[];
  /**
   * Hosts that its code sends requests to itself, beside the models and data sets that are read for it: `["api.example.com"]`. Where its code has an isolate of
   * its own it reaches no other, and those only where the service allows it. Default: none.
   */
  readonly hosts?: readonly string[];
  /** What it asks for where its `Environment` does not say so itself, as `SandboxEnv` does: `["instances"]`. A run that does not allow it is refused. */
  readonly access?: readonly Access[];
  readonly defaults?: Defaults;
  /** What the code was made from (a commit, a package version), for the environment's digest; default: the version. */
  readonly source?: string;
  /** Cheap: no data is read before the examples are asked for. Throws `EdgewiseError` for arguments it cannot work with. */
  readonly load: (args: z.infer<Args>, context: LoaderContext<Dataset>) => Environment;
}

export interface EnvironmentDefinition {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly defaults: Defaults;
  readonly keys: readonly string[];
  readonly hosts: readonly string[];
  readonly source: string;
  /** Arguments by name, `dataset` included. */
  readonly argumentNames: readonly string[];
  readonly argsSchema: z.ZodObject;
  /** The arguments with defaults filled in. Throws `invalid_request` naming the argument that is unknown or wrong. */
  resolveArgs(args: JsonObject): JsonObject;
  /** What is wrong with the arguments, for a person; null when the environment takes them. Reads no data set. */
  checkArgs(args: JsonObject): Promise<string | null>;
  /** What keeps a run from using this environment, by option; null when nothing does. Reads no data set. Throws `MissingKeyError`. */
  check(request: EnvironmentRequest, key?: KeyLookup): EnvironmentProblem | null;
  /** `extra` are options set after loading. Throws `invalid_request` for arguments and options, `MissingKeyError`, `environment_failed` when the loader breaks. */
  load(args: JsonObject, context: LoadContext, extra?: JsonObject): Environment;
}

/** Turns a typed loader into an environment that can be named, checked and loaded (`findEnvironment`, `loadEnvironment`). */
export function defineEnvironment<Args extends z.ZodObject, const Dataset extends DatasetDefaults | undefined = undefined>(
  options: DefinitionOptions<Args, Dataset>,
): EnvironmentDefinition {
  const { id, version, description, defaults = {}, keys = [], hosts = [], source = version } = options;
  const schema = options.args.extend(DATASET_ARGS).strict();
  const argumentNames = Object.keys(schema.shape);
  const badKey = keys.find((key) => !isKeyVariable(key));
  if (badKey !== undefined) throw new TypeError(`environment ${id}: ${JSON.stringify(badKey)} cannot be the name of a key variable (capitals, digits and _)`);
  const hostProblem = declaredHostsProblem(hosts);
  if (hostProblem !== null) throw new TypeError(`environment ${id}: hosts ${hostProblem}`);

  const parse = (args: JsonObject): Record<string, unknown> => {
    const parsed = schema.safeParse(args);
    if (!parsed.success)
      throw new EdgewiseError("invalid_request", `environment ${id}: ${parsed.error.issues.map((issue) => issueText(issue, argumentNames)).join("; ")}`);
    datasetSpec(parsed.data as DatasetArgs, options.dataset ?? null);
    return parsed.data;
  };

  const load = (args: JsonObject, context: LoadContext, extra: JsonObject = {}): Environment => {
    const parsed = parse(args);
    const own = Object.fromEntries(Object.entries(parsed).filter(([name]) => !Object.hasOwn(DATASET_ARGS, name)));
    const spec = datasetSpec(parsed as DatasetArgs, options.dataset ?? null);
    // The conditional type says what `datasetSpec` does: with a default there is always a data set.
    const rowsOf =
      context.rows ??
      ((from: DatasetSpec): RowSource =>
        () =>
          datasetRows(from, context.datasets));
    const dataset = (spec === null ? null : rowsOf(spec)) as LoaderContext<Dataset>["dataset"];
    const given: LoaderContext<Dataset> = {
      dataset,
      rows: (further) => rowsOf(datasetSpec({ dataset: further.dataset }, further) as DatasetSpec),
      keys: { ...context.secrets, ...(context.key === undefined ? ensureKeys(keys) : ensureKeys(keys, context.key)) },
      variables: context.variables ?? {},
      client: context.client ?? noClients,
      sandbox: (name) => {
        asksForSandbox = true;
        return (context.sandbox ?? noSandboxes)(name);
      },
      openEnv: context.openEnv ?? openEnvConnect(platformNetwork(context.datasets.allowPrivate)),
    };
    let asksForSandbox = false;
    let environment: Environment;
    try {
      environment = options.load(own as z.infer<Args>, given);
    } catch (thrown) {
      if (thrown instanceof EdgewiseError) throw thrown;
      throw environmentFailed(`environment ${id} could not be loaded`, thrown);
    }
    environment.id = environment.id === "" ? id : environment.id;
    environment.version = version;
    environment.args = args;
    environment.access = [...new Set([...environment.access, ...(options.access ?? []), ...(asksForSandbox ? (["sandbox"] as const) : [])])];
    environment.datasetName = spec === null ? null : datasetName(spec);
    if (context.rubric !== undefined) environment.chooseRubric(context.rubric);
    environment.setKwargs(extra);
    return environment;
  };

  const check: EnvironmentDefinition["check"] = (request, key) => {
    const {
      env_args,
      extra_env_kwargs = {},
      independent_scoring = false,
      model_keys = [],
      secrets = {},
      variables = {},
      allowed,
      rubric,
      sandbox,
      batch,
    } = request;
    const shared = keyConflict({ id, keys }, model_keys);
    if (shared !== null) return shared;
    const context: LoadContext = {
      ...UNREAD,
      sandbox: askedFor(sandbox, [...keys, ...Object.keys(secrets)]),
      secrets,
      variables,
      ...(key === undefined ? {} : { key }),
    };
    let environment: Environment;
    try {
      environment = load(env_args, context);
    } catch (thrown) {
      if (thrown instanceof MissingKeyError) throw thrown;
      if (thrown instanceof NoSandboxError) return { option: "sandbox", message: textOf(failureOf(thrown)) };
      return { option: "env_args", message: textOf(failureOf(thrown)) };
    }
    try {
      environment.setKwargs(extra_env_kwargs);
    } catch (thrown) {
      return { option: "extra_env_kwargs", message: textOf(failureOf(thrown)) };
    }
    try {
      if (rubric !== undefined) environment.chooseRubric(rubric);
    } catch (thrown) {
      return { option: "rubric", message: textOf(failureOf(thrown)) };
    }
    const denied = allowed === undefined ? null : accessProblem(environment, allowed);
    if (denied !== null) return denied;
    const problem = environment.scoringProblem(independent_scoring);
    if (problem !== null) return { option: "independent_scoring", message: textOf(problem) };
    const unbatched = batch === true ? environment.batchProblem() : null;
    return unbatched === null ? null : { option: "batch", message: textOf(unbatched) };
  };

  return {
    id,
    version,
    description,
    defaults,
    keys,
    hosts,
    source,
    argumentNames,
    argsSchema: schema,
    resolveArgs: (args) => parse(args) as JsonObject,
    checkArgs: async (args) => check({ env_args: args }, () => "unread")?.message ?? null,
    check,
    load,
  };
}

/** Why an environment may not run with models of those key variables; null when it may. */
export function keyConflict({ id, keys }: Pick<EnvironmentDefinition, "id" | "keys">, modelKeys: readonly string[]): EnvironmentProblem | null {
  const shared = keys.filter((name) => modelKeys.includes(name));
  if (shared.length === 0) return null;
  return {
    option: "api_key_var",
    message: `environment ${id} declares ${shared.join(", ")} as a key of its own; no environment gets a key of the model under evaluation`,
  };
}

const textOf = ({ message, hint }: Failure): string => (hint === undefined ? message : `${message} (${hint})`);

const noClients = (): Client => {
  throw new EdgewiseError("environment_failed", "this host gives environments no model to call beside the one that is evaluated");
};

const refused = (): never => {
  throw new EdgewiseError(
    "environment_failed",
    "data sets are read when a run's inputs are prepared and models called when its rollouts run, not when its environment is loaded",
  );
};
const UNREAD: LoadContext = {
  datasets: { fetch: refused, sleep: refused, upload: refused, hub: { endpoint: "", viewer: "", token: null }, allowPrivate: false, note: refused },
  client: ({ client_type = "openai_chat_completions" }) => ({ type: client_type, getResponse: refused }),
  // Whose addresses may be called is the host's to say, when one is.
  openEnv: openEnvConnect(platformNetwork(true)),
};

function issueText(issue: z.core.$ZodIssue, known: readonly string[]): string {
  if (issue.code === "unrecognized_keys") {
    const named = issue.keys.map((key) => `${key}${didYouMean(key, known)}`);
    return `unknown argument ${named.join(", ")} (it takes ${known.join(", ")})`;
  }
  const name = issue.path.join(".");
  return name === "" ? issue.message : `argument ${name}: ${issue.message}`;
}
