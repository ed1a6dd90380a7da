import type { JsonObject } from "../../config/plan/run-config.ts";
import type { HostedEnvironment } from "../hosted/hosted-environment.ts";
import { inProcess } from "../hosted/in-process.ts";
import { describeArgs, type EnvironmentFacts } from "./describe.ts";
import type { EnvironmentDefinition, EnvironmentProblem, EnvironmentRequest, LoadContext } from "./definition.ts";
import type { KeyLookup } from "./keys.ts";

/** What is known of an environment whose code may not be loaded yet: what it said of itself elsewhere, and what its code was made from. */
export interface OfferedFacts extends Omit<EnvironmentFacts, "args"> {
  readonly source: string;
  /** Absent: nobody kept them. */
  readonly args?: EnvironmentFacts["args"];
}

/** An environment that runs may name: known by its facts, and loaded when one does, wherever its code runs then. */
export interface OfferedEnvironment extends Omit<OfferedFacts, "args"> {
  /** What it takes, without loading it; absent where that is not known. Made when it is asked for: nothing else needs it. */
  readonly describedArgs?: () => EnvironmentFacts["args"];
  /** Whether its code has an isolate of its own, of which an executor opens few different ones. */
  readonly isIsolated: boolean;
  /** Values that stand in nothing that is written while its code is at work: what its server is asked with. Absent = none. */
  readonly hides?: () => readonly string[];
  /** As `EnvironmentDefinition.resolveArgs`. Throws `environment_failed` when its code breaks while it is loaded. */
  resolveArgs(args: JsonObject): Promise<JsonObject>;
  /** As `EnvironmentDefinition.check`, and throws as `resolveArgs`. */
  check(request: EnvironmentRequest, key?: KeyLookup): Promise<EnvironmentProblem | null>;
  /** As `EnvironmentDefinition.load`; whoever calls it calls `teardown` of what it gives. */
  load(args: JsonObject, context: LoadContext, extra?: JsonObject): Promise<HostedEnvironment>;
}

/** An environment whose code is in this isolate. */
export function offeredDefinition(definition: EnvironmentDefinition): OfferedEnvironment {
  const { id, version, description, defaults, keys, hosts, source } = definition;
  return {
    ...{ id, version, description, defaults, keys, hosts, source },
    isIsolated: false,
    describedArgs: () => describeArgs(definition),
    resolveArgs: async (args) => definition.resolveArgs(args),
    check: async (request, key) => definition.check(request, key),
    load: async (args, context, extra) => inProcess(definition.load(args, context, extra)),
  };
}
