import type { JsonObject } from "../../config/plan/run-config.ts";
import type { HostedEnvironment } from "../hosted/hosted-environment.ts";
import { inProcess } from "../hosted/in-process.ts";
import type { EnvironmentFacts } from "./describe.ts";
import type { EnvironmentDefinition, EnvironmentProblem, EnvironmentRequest, LoadContext } from "./definition.ts";
import { environmentOf, type ModuleSources } from "./environment-of.ts";
import { environmentFailed } from "../../rollouts/file-access.ts";
import type { KeyLookup } from "./keys.ts";

/** What is known of an environment whose code may not be loaded yet: what it said of itself elsewhere, and what its code was made from. */
export interface OfferedFacts extends Omit<EnvironmentFacts, "args"> {
  readonly source: string;
}

/** An environment that runs may name: known by its facts, and loaded when one does, wherever its code runs then. */
export interface OfferedEnvironment extends OfferedFacts {
  /** As `EnvironmentDefinition.resolveArgs`. Throws `environment_failed` when its code breaks while it is loaded. */
  resolveArgs(args: JsonObject): Promise<JsonObject>;
  /** As `EnvironmentDefinition.check`, and throws as `resolveArgs`. */
  check(request: EnvironmentRequest, key?: KeyLookup): Promise<EnvironmentProblem | null>;
  /** As `EnvironmentDefinition.load`; whoever calls it calls `teardown` of what it gives. */
  load(args: JsonObject, context: LoadContext, extra?: JsonObject): Promise<HostedEnvironment>;
}

/** An environment whose code is at hand. */
export const offeredDefinition = (definition: EnvironmentDefinition): OfferedEnvironment => offeredBy(definition, async () => definition);

/** One whose code runs in this isolate; `open` gives it. */
function offeredBy({ id, version, description, defaults, keys, source }: OfferedFacts, open: () => Promise<EnvironmentDefinition>): OfferedEnvironment {
  return {
    ...{ id, version, description, defaults, keys, source },
    resolveArgs: async (args) => (await open()).resolveArgs(args),
    check: async (request, key) => (await open()).check(request, key),
    load: async (args, context, extra) => inProcess((await open()).load(args, context, extra)),
  };
}

/** A module that has an environment, and what its code was made from. */
export interface LoadedModule {
  readonly module: Readonly<Record<string, unknown>>;
  readonly sources: ModuleSources | null;
}

/**
 * An environment in a module of its own: `load` imports it, and is called when a run names the environment, and not before. What it said of itself holds,
 * whatever the module says when it runs: it is given the keys that are in `facts` and no others.
 */
export function offerEnvironment(facts: OfferedFacts, load: () => Promise<LoadedModule>): OfferedEnvironment {
  let opened: EnvironmentDefinition | null = null;
  // Not the promise: of a request that is over, it might never settle for another.
  const open = async (): Promise<EnvironmentDefinition> => {
    opened ??= kept(facts, await definitionOf(facts, load));
    return opened;
  };
  return offeredBy(facts, open);
}

async function definitionOf({ id, source }: OfferedFacts, load: () => Promise<LoadedModule>): Promise<EnvironmentDefinition> {
  try {
    const { module, sources } = await load();
    return environmentOf(module, source, sources);
  } catch (thrown) {
    throw environmentFailed(`environment ${id} could not be loaded`, thrown);
  }
}

/** `definition` as `facts` say it is. */
function kept({ id, version, description, defaults, keys, source }: OfferedFacts, definition: EnvironmentDefinition): EnvironmentDefinition {
  const declared =
    (lookUp: KeyLookup): KeyLookup =>
    (name) =>
      keys.includes(name) ? lookUp(name) : null;
  return Object.freeze({
    ...definition,
    ...{ id, version, description, defaults, keys, source },
    check: (request, key) => definition.check(request, key === undefined ? undefined : declared(key)),
    load: (args, context, extra) => definition.load(args, context.key === undefined ? context : { ...context, key: declared(context.key) }, extra),
  } satisfies EnvironmentDefinition);
}
