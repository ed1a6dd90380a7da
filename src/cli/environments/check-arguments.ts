/** Arguments of an environment held against what it says of them, before a service is asked. */
import { z } from "zod";
import { issueText } from "../../config/issue-text.ts";
import { didYouMean } from "../../config/nearest.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { DATASET_ARGS } from "../../datasets/spec.ts";
import type { EnvironmentFacts } from "../../environments/definition/describe.ts";

/** What is wrong, each with the argument's name; empty where nothing is, or only the environment's own code can tell. */
export function argumentProblems({ id, args }: Pick<EnvironmentFacts, "id" | "args">, given: JsonObject): readonly string[] {
  const schemas = new Map<string, z.ZodType>([...args.map(({ name, schema }) => [name, typeOf(schema)] as const), ...Object.entries(DATASET_ARGS)]);
  const wrong = Object.entries(given).flatMap(([name, value]) => {
    const schema = schemas.get(name);
    if (schema === undefined) {
      return [`env_args.${name}: ${id} has no such argument${didYouMean(name, schemas.keys())}; it takes ${[...schemas.keys()].join(", ")}`];
    }
    const parsed = schema.safeParse(value);
    return parsed.success ? [] : parsed.error.issues.map((issue) => `env_args.${[name, ...issue.path].join(".")}: ${lowerFirst(issueText(issue))}`);
  });
  const missing = args.filter(({ name, required }) => required && !Object.hasOwn(given, name)).map(({ name }) => `env_args.${name} is missing: ${id} needs it`);
  return [...wrong, ...missing];
}

/** What JSON Schema cannot say of a type is for the environment to check. */
function typeOf(schema: JsonObject): z.ZodType {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return z.json();
  }
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1);
