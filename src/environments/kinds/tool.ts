import { z } from "zod";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { copyJson } from "../../rollouts/copy-json.ts";
import type { State, Tool } from "../../rollouts/types.ts";

/** What a tool may look at beside its arguments. */
export interface ToolContext {
  readonly state: State;
  /** Id of the call, as the model gave it. */
  readonly id: string;
  /** Ends what the tool waits for when the rollout is ended. */
  readonly signal: AbortSignal | null;
}

/**
 * A function that a model may call. Its result goes to the model as it is when it is a text or a list of text and image parts,
 * else as JSON; an error it throws goes to the model as text, unless the environment stops for it (`stopErrors`).
 */
export interface ToolFunction<Args = Record<string, unknown>> {
  readonly name: string;
  readonly description: string;
  /**
   * A zod object, which checks the arguments before the call; or a JSON Schema, of which only the names are checked. Arguments that
   * neither names are an error that the model is told, unless the schema allows them (`z.looseObject`, `additionalProperties`).
   */
  readonly parameters: z.ZodType<Args> | JsonObject;
  readonly strict?: boolean;
  run(args: Args, context: ToolContext): unknown;
}

/** A tool for a list of tools, its argument types taken from the zod schema. */
export const tool = <Schema extends z.ZodObject>(
  definition: Omit<ToolFunction<z.output<Schema>>, "parameters" | "run"> & {
    readonly parameters: Schema;
    readonly run: (args: z.output<Schema>, context: ToolContext) => unknown;
  },
): ToolFunction => definition as unknown as ToolFunction;

/** By its mark, not by its class: an environment may bring a zod of its own. */
const isSchema = (parameters: ToolFunction["parameters"]): parameters is z.ZodType<Record<string, unknown>> => "_zod" in parameters;

/**
 * What the model is told of a tool: `title` and `additionalProperties: false` as verifiers writes them. A parameter with a default
 * is not required. `hidden` ones are left out, with the definitions that only they used.
 */
export function toolDef(definition: ToolFunction, hidden: readonly string[] = []): Tool {
  const { name, description, parameters, strict } = definition;
  const { $schema: _dialect, ...schema } = isSchema(parameters)
    ? (z.toJSONSchema(parameters, { io: "input", unrepresentable: "any", override: withoutSafeBounds }) as JsonObject)
    : copyJson(parameters);
  const { $defs, properties, required, title = `${name}_args`, type, ...rest } = hidden.length === 0 ? schema : without(schema, hidden);
  // The order in which verifiers has them.
  const shown = withoutMissing({ $defs, properties, required, title, type, additionalProperties: false, ...rest });
  return { name, description, parameters: shown, ...(strict === undefined ? {} : { strict }) };
}

/** zod bounds every whole number by what a double holds exactly, which tells a model nothing, and some servers' grammars refuse. */
function withoutSafeBounds({ jsonSchema }: { readonly jsonSchema: { minimum?: unknown; maximum?: unknown } }): void {
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
}

const withoutMissing = (fields: Readonly<Record<string, Json | undefined>>): JsonObject =>
  Object.fromEntries(Object.entries(fields).filter((field): field is [string, Json] => field[1] !== undefined));

const isRecord = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

function without(schema: JsonObject, hidden: readonly string[]): JsonObject {
  const { properties, required, $defs, ...rest } = schema;
  const left = isRecord(properties) ? Object.fromEntries(Object.entries(properties).filter(([name]) => !hidden.includes(name))) : {};
  const needed = Array.isArray(required) ? required.filter((name) => !hidden.includes(String(name))) : [];
  const shown: JsonObject = { ...rest, properties: left, ...(needed.length === 0 ? {} : { required: needed }) };
  const used = isRecord($defs) ? usedDefinitions(shown, $defs) : {};
  return Object.keys(used).length === 0 ? shown : { ...shown, $defs: used };
}

/** Those of `definitions` that `schema` refers to, through each other too. */
function usedDefinitions(schema: JsonObject, definitions: JsonObject): JsonObject {
  const used = new Set<string>();
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) for (const item of value) visit(item);
    else if (isRecord(value))
      for (const [key, item] of Object.entries(value)) {
        const name = key === "$ref" && typeof item === "string" ? /^#\/\$defs\/(.+)$/.exec(item)?.[1] : undefined;
        if (name === undefined) visit(item);
        else if (!used.has(name)) {
          used.add(name);
          visit(definitions[name]);
        }
      }
  };
  visit(schema);
  return Object.fromEntries(Object.entries(definitions).filter(([name]) => used.has(name)));
}

/** Names of all arguments that a tool takes; null where its schema takes any. */
function argumentNames({ parameters }: ToolFunction): readonly string[] | null {
  if (isSchema(parameters)) {
    const { def } = parameters._zod as unknown as { def: { type: string; shape?: object; catchall?: { _zod: { def: { type: string } } } } };
    const closed = def.type === "object" && (def.catchall === undefined || def.catchall._zod.def.type === "never");
    return closed ? Object.keys(def.shape ?? {}) : null;
  }
  const { properties, additionalProperties = false, patternProperties } = parameters;
  return isRecord(properties) && additionalProperties === false && patternProperties === undefined ? Object.keys(properties) : null;
}

/** The arguments as the tool takes them. Throws a `TypeError` that names what is wrong, for the model to read. */
export async function checkedArgs(definition: ToolFunction, args: Record<string, unknown>): Promise<Record<string, unknown>> {
  const names = argumentNames(definition);
  const extra = names === null ? undefined : Object.keys(args).find((name) => !names.includes(name));
  // Python's own words, as they stand in rows of verifiers.
  if (extra !== undefined) throw new TypeError(`${definition.name}() got an unexpected keyword argument '${extra}'`);
  if (!isSchema(definition.parameters)) return args;
  const parsed = await definition.parameters.safeParseAsync(args);
  if (parsed.success) return parsed.data;
  const issues = parsed.error.issues.map(({ path, message }) => (path.length === 0 ? message : `${path.join(".")}: ${message}`));
  throw new TypeError(`${definition.name}: ${issues.join("; ")}`);
}
