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

export function describeEnvironment({ id, version, description, defaults, keys, hosts, argsSchema }: EnvironmentDefinition): EnvironmentFacts {
  const { properties = {}, required = [] } = z.toJSONSchema(argsSchema, { io: "input", unrepresentable: "any" });
  const args = Object.entries(properties)
    .filter(([name]) => !Object.hasOwn(DATASET_ARGS, name))
    .map(([name, property]) => argumentFacts(name, property as JsonObject, required.includes(name)));
  return { id, version, description, defaults, keys: [...keys], ...(hosts.length === 0 ? {} : { hosts: [...hosts] }), args };
}

function argumentFacts(name: string, property: JsonObject, required: boolean): ArgumentFacts {
  const { default: usual, description, ...schema } = property;
  const facts = { name, schema, required, description: typeof description === "string" ? description : null };
  return usual === undefined ? facts : { ...facts, default: usual };
}
