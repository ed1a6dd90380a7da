import { canonicalJson } from "../config/canonical-json.ts";
import type { JsonObject } from "../config/run-config.ts";
import { sha256Hex } from "../config/sha256.ts";
import { EdgewiseError } from "../errors/result.ts";
import { alphabetSort } from "./bundled/alphabet-sort/alphabet-sort.ts";
import { arithmetic } from "./bundled/arithmetic/arithmetic.ts";
import { gsm8k } from "./bundled/gsm8k/gsm8k.ts";
import { math500 } from "./bundled/math500/math500.ts";
import { reverseText } from "./bundled/reverse-text/reverse-text.ts";
import { toolTest } from "./bundled/tool-test/tool-test.ts";
import { truthfulqaMc } from "./bundled/truthfulqa-mc/truthfulqa-mc.ts";
import { wordle } from "./bundled/wordle/wordle.ts";
import type { EnvironmentDefinition, LoadContext } from "./definition.ts";
import type { Environment } from "./environment.ts";
import { standaloneContext } from "./standalone-context.ts";

const BUNDLED: readonly EnvironmentDefinition[] = [alphabetSort, arithmetic, gsm8k, math500, reverseText, toolTest, truthfulqaMc, wordle];

/** Environments of this host by id: set once, before the first request, by whoever puts the host together. */
let known: ReadonlyMap<string, EnvironmentDefinition> = new Map(BUNDLED.map((definition) => [definition.id, definition]));

/** Gives this host environments beside the bundled ones; one of the same id takes the bundled one's place. Throws `TypeError` for two of one id. */
export function registerEnvironments(definitions: readonly EnvironmentDefinition[]): void {
  const twice = definitions.find(({ id }, index) => definitions.findIndex((other) => other.id === id) < index);
  if (twice !== undefined) throw new TypeError(`two environments are called ${JSON.stringify(twice.id)}`);
  known = new Map([...BUNDLED, ...definitions].map((definition) => [definition.id, definition]));
}

export const listEnvironments = (): readonly EnvironmentDefinition[] => [...known.values()];

export const findEnvironment = (id: string): EnvironmentDefinition | null => known.get(id) ?? null;

/**
 * An environment by id; `extra` are options set after loading (`{"max_turns": 20}`). Without a `context` it stands on its own: data
 * sets are fetched, keys come from the variables of the process. Throws `environment_not_found`, `invalid_request` (naming the
 * argument or the option), `MissingKeyError` or `environment_failed`. No data is read before `examples` is.
 */
export async function loadEnvironment(
  id: string,
  args: JsonObject = {},
  context: LoadContext = standaloneContext(),
  extra: JsonObject = {},
): Promise<Environment> {
  const definition = findEnvironment(id);
  if (definition === null) {
    throw new EdgewiseError("environment_not_found", `there is no environment ${JSON.stringify(id)}`, {
      hint: `this service has: ${[...known.keys()].join(", ")}`,
    });
  }
  return definition.load(args, context, extra);
}

/** Hex sha256 over what decides an environment's behaviour: id, version, source, its arguments with defaults filled in, and options set after loading. */
export async function environmentDigest(definition: EnvironmentDefinition, args: JsonObject, extra: JsonObject = {}): Promise<string> {
  const { id, version, source } = definition;
  // Left out where there are none: such a run keeps the digest it always had.
  const options = Object.keys(extra).length === 0 ? {} : { extra };
  return sha256Hex(canonicalJson({ id, version, source, args: definition.resolveArgs(args), ...options }));
}
