/** What an environment has done with sandboxes, and what comes of it: src/environments/sandbox/sandbox.ts in messages. */
import { z } from "zod";
import { MAX_SANDBOX_COMMAND_CHARACTERS, MAX_SANDBOX_COMMAND_SECONDS, MAX_SANDBOX_FILE_BYTES } from "../limits.ts";

const text = z.string();
const op = <const T extends string>(name: T) => z.literal(name);
const id = text.min(1).max(200);
const path = text.min(1).max(4_096);
/** The same number of bytes as base64 takes a third more characters. */
const bytes = text.max(4 * Math.ceil(MAX_SANDBOX_FILE_BYTES / 3)).describe("base64");
const command = { id, command: text.max(MAX_SANDBOX_COMMAND_CHARACTERS), working_dir: path.nullable() };

const spec = z
  .object({
    name: text.max(64),
    docker_image: text.min(1).max(500),
    start_command: text.max(10_000),
    cpu_cores: z.number().positive().max(64),
    memory_gb: z.number().positive().max(512),
    disk_size_gb: z.number().positive().max(2_048),
    gpu_count: z.int().min(0).max(8),
    timeout_minutes: z.number().positive().max(1_440),
    environment_vars: z.record(text.max(200), text.max(32_768)).refine((vars) => Object.keys(vars).length <= 200, "at most 200 variables"),
    labels: z.array(text.max(200)).max(32),
    team_id: text.max(200).nullable(),
    advanced_configs: z.record(text.max(200), z.unknown()).refine((configs) => JSON.stringify(configs).length <= 10_000, "at most 10,000 characters"),
  })
  .meta({ id: "sandbox_spec" });

export const sandboxRequest = z
  .discriminatedUnion("op", [
    z.object({ op: op("create"), spec }),
    z.object({ op: op("ready"), id }),
    z.object({ op: op("execute"), ...command, timeout_seconds: z.number().positive().max(MAX_SANDBOX_COMMAND_SECONDS) }),
    z.object({ op: op("start"), ...command }),
    z.object({ op: op("job"), id, job: text.max(200) }),
    z.object({ op: op("stop"), id, job: text.max(200) }),
    z.object({ op: op("write"), id, path, content: bytes }),
    z.object({ op: op("read"), id, path }),
    z.object({ op: op("expose"), id, port: z.int().min(1).max(65_535) }),
    z.object({ op: op("delete"), ids: z.array(id).max(256) }),
  ])
  .meta({ id: "sandbox_request", description: "of a sandbox that the run has" });

export type SandboxRequestMessage = z.infer<typeof sandboxRequest>;

const outputs = { stdout: text, stderr: text, stdout_truncated: z.literal(true).optional(), stderr_truncated: z.literal(true).optional() };

export const sandboxResult = z
  .union([
    z.object({ id }).describe("of `create`"),
    z.object({ command: z.object({ ...outputs, exit_code: z.int() }) }).describe("of `execute`"),
    z.object({ job: text }).describe("of `start`"),
    z.object({ status: z.object({ running: z.boolean(), exit_code: z.int().nullable(), ...outputs }) }).describe("of `job`"),
    z.object({ content: bytes }).describe("of `read`"),
    z.object({ url: text }).describe("of `expose`"),
    z.object({}).describe("of the others"),
  ])
  .meta({ id: "sandbox_result" });

export type SandboxResultMessage = z.infer<typeof sandboxResult>;

/** Bytes as they cross. */
export function crossingBytes(content: Uint8Array): string {
  let binary = "";
  for (let at = 0; at < content.length; at += CHUNK) binary += String.fromCharCode(...content.subarray(at, at + CHUNK));
  return btoa(binary);
}
/** Arguments of one call. */
const CHUNK = 0x8000;

/** The bytes again. Throws `SyntaxError` for what is no base64. */
export function crossedBytes(text: string): Uint8Array {
  let binary: string;
  try {
    binary = atob(text);
  } catch (cause) {
    throw new SyntaxError("the content of a file is no base64", { cause });
  }
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}
