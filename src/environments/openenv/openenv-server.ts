import { parseShallow } from "../../config/json-depth.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";

/** What an OpenEnv server answers to a reset or a step. */
export interface OpenEnvResult {
  readonly observation: Json;
  readonly reward: number | null;
  readonly done: boolean;
}

/** One conversation with an OpenEnv server; its state is the server's. */
export interface OpenEnvSession {
  reset(seed: number): Promise<OpenEnvResult>;
  step(action: JsonObject): Promise<OpenEnvResult>;
  /** Tools of a server that speaks MCP, as it lists them. */
  listTools(): Promise<JsonObject[]>;
  close(): Promise<void>;
}

/** A running OpenEnv server. */
export interface OpenEnvServer {
  /** Whether it answers `/health` with 200. */
  healthy(): Promise<boolean>;
  /** What `/schema` says of an action. */
  actionSchema(): Promise<JsonObject>;
  /** Waits while the server has no room for another one. */
  session(signal?: AbortSignal | null): Promise<OpenEnvSession>;
}

/** How a server is reached below a base URL. */
export type OpenEnvConnect = (baseUrl: string) => OpenEnvServer;

/** How a model acts: what it says is an action (`gym`), or it calls the server's tools (`mcp`). */
export type Contract = "gym" | "mcp";

/** Content of an OpenEnv project's `.build.json`. */
export interface OpenEnvBuild {
  readonly image: string;
  readonly port: number;
  readonly start_command: string;
  readonly contract: Contract;
}

const isRecord = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);
const isText = (value: unknown): value is string => typeof value === "string" && value.trim() !== "";

/** Checks a manifest. Throws a `TypeError` that names the field. */
export function readBuild(build: unknown): OpenEnvBuild {
  const invalid = (what: string): TypeError => new TypeError(`.build.json: ${what}; build the project's image again (vf-build)`);
  if (!isRecord(build)) throw invalid("it is no object");
  const { image, port = 8000, start_command, contract } = build;
  if (!isText(image)) throw invalid("image is missing");
  if (!Number.isSafeInteger(Number(port)) || Number(port) < 1 || Number(port) > 65_535) throw invalid(`port is ${JSON.stringify(port)}, no port`);
  if (!isText(start_command)) throw invalid("start_command is missing");
  if (contract !== "gym" && contract !== "mcp") throw invalid('contract is neither "gym" nor "mcp"');
  return { image: image.trim(), port: Number(port), start_command: start_command.trim(), contract };
}

/** Whether a schema is one of MCP's tool actions. */
export function looksLikeMcp(schema: JsonObject): boolean {
  const { properties } = schema;
  if (isRecord(properties) && "tool_name" in properties && "arguments" in properties) return true;
  const says = (value: Json | undefined): boolean => {
    if (Array.isArray(value)) return value.some(says);
    return isRecord(value) ? Object.values(value).some(says) : value === "list_tools" || value === "call_tool";
  };
  return says(schema);
}

/** Every action of openenv-core has it, and none needs it. */
const OF_ALL = "metadata";

/** The only field of an action that is a text, where there is one: the required one, or the only one. */
export function singleTextField({ properties, required }: JsonObject): string | null {
  if (!isRecord(properties)) return null;
  const names = Array.isArray(required) && required.length === 1 ? required.map(String) : Object.keys(properties).filter((name) => name !== OF_ALL);
  const [name] = names;
  if (names.length !== 1 || name === undefined) return null;
  const field = properties[name];
  return isRecord(field) && field.type === "string" ? name : null;
}

/** The model's answer is no action that the server knows; the text tells the model. */
export class NoAction extends Error {
  override readonly name = "NoAction";
}

/** What the model wrote as an action: a JSON object, in a code fence or not, or the text for the only field. Throws `NoAction`. */
export function readAction(written: string, schema: JsonObject): JsonObject {
  const text = /^```[^\n]*\n([\s\S]*)\n?```$/.exec(written.trim())?.[1]?.trim() ?? written.trim();
  try {
    const action: unknown = parseShallow(text);
    if (isRecord(action)) return action;
  } catch {
    // Then it may be the text itself.
  }
  const field = singleTextField(schema);
  if (field !== null) return { [field]: text };
  throw new NoAction("the answer is no action: write one JSON object that follows the action schema");
}
