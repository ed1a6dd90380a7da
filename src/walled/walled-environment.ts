import type { Channel } from "../environment-protocol/channel.ts";
import type { ToEngine, ToEngineOf } from "../environment-protocol/to-engine.ts";
import { traitsFrom } from "./believed-traits.ts";
import { PROTOCOL_VERSION } from "../environment-protocol/values.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import type { EnvironmentFetch, EnvironmentProblem, EnvironmentRequest, LoadContext } from "../environments/definition/definition.ts";
import { keyConflict } from "../environments/definition/definition.ts";
import { ensureKeys, type KeyLookup } from "../environments/definition/keys.ts";
import { WITHOUT_BATCHES } from "../environments/hosted/not-in-batches.ts";
import type { OfferedEnvironment, OfferedFacts } from "../environments/definition/offered.ts";
import type { EnvironmentFacts } from "../environments/definition/describe.ts";
import { EdgewiseError } from "../errors/result.ts";
import { Conversation, type Patience } from "./conversation.ts";
import { WalledHosted } from "./walled-hosted.ts";

/** What an environment behind a wall is opened for: who made the wall gives nothing else. */
export interface WallGrant {
  /** `facts`: to say what it is, to check or to resolve arguments. `run`: to be loaded with the keys. */
  readonly purpose: "facts" | "run";
  /** Values of keys and secrets by name. A copy of the code that has seen some is none for others. */
  readonly keys: Readonly<Record<string, string>>;
  /** What requests to its code are sent with; absent: as its opener sends them. */
  readonly outward?: EnvironmentFetch;
}

/** Opens a channel to the environment's code. Rejects where that is not possible here, or not now (`passing`). */
export type WallOpener = (grant: WallGrant) => Promise<Channel>;

export interface WalledOptions extends Patience {
  /** Unix milliseconds; default: the clock of the platform. */
  readonly now?: () => number;
  /** Called before its code is asked for facts; what it gives, when that is over. Who loads it for a run says so itself. */
  readonly atWork?: () => Promise<() => void>;
}

/** An environment behind a wall, as runs may name it. */
export interface WalledOffered extends OfferedEnvironment {
  load(args: JsonObject, context: LoadContext, extra?: JsonObject): Promise<WalledHosted>;
}

/** The data sets of a conversation in which none is read. */
const NO_CONTEXT = {
  datasets: {
    fetch: () => refused(),
    sleep: () => refused(),
    upload: () => refused(),
    hub: { endpoint: "", viewer: "", token: null },
    allowPrivate: false,
    note: () => undefined,
  },
} satisfies Pick<LoadContext, "datasets">;
function refused(): never {
  throw new EdgewiseError("environment_failed", "no data set is read before a run is prepared");
}

/**
 * An environment whose code runs behind a wall, where `open` leads, and speaks by messages (docs/environment-protocol.md). What `facts` say of it holds,
 * whatever it says when it runs: it is given the keys that are declared there, and no others.
 */
export function walledEnvironment(facts: OfferedFacts, open: WallOpener, options: WalledOptions = {}): WalledOffered {
  const { id, keys, hosts = [] } = facts;
  const { now = Date.now } = options;

  const asked = async <Type extends ToEngine["type"]>(message: object, type: Type): Promise<ToEngineOf<Type>> => {
    const over = (await options.atWork?.()) ?? (() => undefined);
    try {
      return await answered(message, type);
    } finally {
      over();
    }
  };

  const answered = async <Type extends ToEngine["type"]>(message: object, type: Type): Promise<ToEngineOf<Type>> => {
    const channel = await open({ purpose: "facts", keys: {} });
    const conversation = new Conversation(channel, { ...options, id, context: NO_CONTEXT, args: {}, hosts: [], now, onEnd: () => undefined });
    try {
      return await conversation.ask({ ...message, v: PROTOCOL_VERSION }, type);
    } catch (thrown) {
      throw believedFailure(thrown, id);
    } finally {
      conversation.end({ code: "environment_failed", message: "it was asked what it was to be asked" });
    }
  };

  const check = async (request: EnvironmentRequest, key?: KeyLookup): Promise<EnvironmentProblem | null> => {
    const shared = keyConflict(facts, request.model_keys ?? []);
    if (shared !== null) return shared;
    if (request.batch === true && facts.results_shape !== undefined) return { option: "batch", message: ownRequests(id) };
    const declared = key === undefined ? ensureKeys(keys) : ensureKeys(keys, key);
    const { secrets = {}, model_keys: _models, ...rest } = request;
    const { problem } = await asked({ type: "check", request: rest, keys: [...Object.keys(secrets), ...Object.keys(declared)] }, "checked");
    return problem === null ? null : believedProblem(problem);
  };

  const load = async (args: JsonObject, context: LoadContext, extra: JsonObject = {}): Promise<WalledHosted> => {
    const own = context.key === undefined ? ensureKeys(keys) : ensureKeys(keys, context.key);
    const given = { ...context.secrets, ...own };
    const outward = context.outward === undefined ? {} : { outward: context.outward };
    const opening = { type: "open", v: PROTOCOL_VERSION, args, extra, rubric: context.rubric ?? null, keys: given, variables: context.variables ?? {} };
    const begin = async (onEnd: () => void) => {
      const conversation = new Conversation(await open({ purpose: "run", keys: given, ...outward }), { ...options, id, context, args, hosts, now, onEnd });
      try {
        const { traits } = await conversation.ask(opening, "opened");
        return { conversation, traits: traitsFrom(traits, facts) };
      } catch (thrown) {
        conversation.end({ code: "environment_failed", message: "it could not be loaded" });
        throw believedFailure(thrown, id);
      }
    };
    return await WalledHosted.open(begin);
  };

  const { version, description, defaults, source, args, results_shape: shape } = facts;
  return {
    ...{ id, version, description, defaults, keys, source, ...(shape === undefined ? {} : { results_shape: shape }) },
    ...(facts.hosts === undefined ? {} : { hosts: facts.hosts }),
    ...(args === undefined ? {} : { describedArgs: () => args }),
    isIsolated: true,
    resolveArgs: async (args) => (await asked({ type: "resolve_args", args }, "resolved")).args as JsonObject,
    check,
    load,
  };
}

/** What the environment at the end of a channel says of itself: for whoever publishes it. Throws `environment_failed`. */
export async function describeWalled(open: WallOpener, options: WalledOptions = {}): Promise<EnvironmentFacts & OfferedFacts> {
  const { now = Date.now } = options;
  const channel = await open({ purpose: "facts", keys: {} });
  const conversation = new Conversation(channel, { ...options, id: "", context: NO_CONTEXT, args: {}, hosts: [], now, onEnd: () => undefined });
  try {
    const { facts } = await conversation.ask({ type: "describe", v: PROTOCOL_VERSION }, "described");
    return facts as unknown as EnvironmentFacts & OfferedFacts;
  } catch (thrown) {
    throw believedFailure(thrown, "of the module");
  } finally {
    conversation.end({ code: "environment_failed", message: "it was asked what it was to be asked" });
  }
}

const ownRequests = (id: string): string =>
  `environment ${id} is played by a library of its own (Python's verifiers), which sends its requests one by one, and none of them can wait for a batch (${WITHOUT_BATCHES})`;

/** Codes that an environment may answer with before anything is played. */
const OWN_CODES: readonly string[] = [
  "invalid_request",
  "missing_key",
  "dataset_unreadable",
  "environment_failed",
  "access_not_allowed",
  "sandbox_unavailable",
  "metric_name_reserved",
];

function believedFailure(thrown: unknown, id: string): unknown {
  if (thrown instanceof EdgewiseError && OWN_CODES.includes(thrown.code)) return thrown;
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return new EdgewiseError("environment_failed", `environment ${id}: ${message}`, { cause: thrown });
}

const OPTIONS: readonly string[] = [
  "env_args",
  "extra_env_kwargs",
  "independent_scoring",
  "batch",
  "api_key_var",
  "allow_sandbox_access",
  "allow_instances_access",
  "rubric",
  "sandbox",
] satisfies readonly EnvironmentProblem["option"][];

const believedProblem = ({ option, message }: { option: string; message: string }): EnvironmentProblem => ({
  option: OPTIONS.includes(option) ? (option as EnvironmentProblem["option"]) : "env_args",
  message: message.slice(0, 4_000),
});
