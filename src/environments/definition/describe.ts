import { z } from "zod";
import type { Json, JsonObject, ResultsShape } from "../../config/plan/run-config.ts";
import { DATASET_ARGS } from "../../datasets/spec.ts";
import type { Defaults, EnvironmentDefinition } from "./definition.ts";

/** One argument of an environment, as its schema says. */
export interface ArgumentFacts {
  readonly name: string;
  /** JSON Schema of its values. */
  readonly schema: JsonObject;
  readonly required: boolean;
  readonly default?: Json;
  readonly description: string | null;
}

/** What may be known of an environment without loading it; plain data. */
export interface EnvironmentFacts {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  readonly defaults: Defaults;
  readonly keys: readonly string[];
  /** Hosts that its code sends requests to itself; absent = none, and from environments of before. */
  readonly hosts?: readonly string[];
  /** Shape of the rows that its library writes itself; absent = they are ours. */
  readonly results_shape?: ResultsShape;
  /** Its own arguments; those of data sets, which every environment takes, are `DATASET_ARGS`. */
  readonly args: readonly ArgumentFacts[];
}

export function describeEnvironment(definition: EnvironmentDefinition): EnvironmentFacts {
  const { id, version, description, defaults, keys, hosts } = definition;
  return { id, version, description, defaults, keys: [...keys], ...(hosts.length === 0 ? {} : { hosts: [...hosts] }), args: describeArgs(definition) };
}

/** Its own arguments, in the order of its schema. */
export const describeArgs = ({ argsSchema }: Pick<EnvironmentDefinition, "argsSchema">): readonly ArgumentFacts[] =>
  argumentsIn(argsSchema).filter(({ name }) => !Object.hasOwn(DATASET_ARGS, name));

/** Those that say which data set is read, which every environment of this library takes beside its own. */
export const describeDatasetArgs = (): readonly ArgumentFacts[] => argumentsIn(z.object(DATASET_ARGS));

function argumentsIn(schema: z.ZodObject): readonly ArgumentFacts[] {
  const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: "input", unrepresentable: "any" });
  return Object.entries(properties).map(([name, property]) => argumentFacts(name, property as JsonObject, required.includes(name)));
}

function argumentFacts(name: string, property: JsonObject, required: boolean): ArgumentFacts {
  const { default: usual, description, ...schema } = property;
  const facts = { name, schema, required, description: typeof description === "string" ? description : null };
  return usual === undefined ? facts : { ...facts, default: usual };
}
