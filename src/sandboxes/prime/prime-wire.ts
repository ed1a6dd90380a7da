/** Prime's wire, as its package speaks it (`prime-sandboxes` 0.5.1): REST for sandboxes, and a gateway to each of them: files by HTTP, commands by Connect in protobuf. */
import type { CommandEvent } from "../wire/remote-command.ts";
import { concat, fieldsOf, lengthField, zigzag } from "../wire/protobuf.ts";

export const PROVIDER = "Prime";
export const START = "/command_session.CommandSession/Start";

/** `StartRequest { CommandSpec command = 1 }`, with `CommandSpec { cmd = 1, args = 2, cwd = 4 }`. */
export function startRequest(command: string, cwd: string | null): Uint8Array {
  const spec = concat(lengthField(1, "/bin/bash"), lengthField(2, "-c"), lengthField(2, command), ...(cwd === null ? [] : [lengthField(4, cwd)]));
  return lengthField(1, spec);
}

const inner = (message: Uint8Array, wanted: number): Uint8Array | null => {
  for (const each of fieldsOf(message)) if (each.field === wanted && "bytes" in each) return each.bytes;
  return null;
};
const numberIn = (message: Uint8Array, wanted: number): number => {
  for (const each of fieldsOf(message)) if (each.field === wanted && "number" in each) return each.number;
  return 0;
};
const textIn = (message: Uint8Array, wanted: number): string => new TextDecoder().decode(inner(message, wanted) ?? new Uint8Array());

/**
 * One `StartResponse { CommandSessionEvent event = 1 }`, of which one is there: `start = 1 { pid = 1 }`, `data = 2 { stdout = 1, stderr = 2, pty = 3 }`,
 * `end = 3 { sint32 exit_code = 1, exited = 2, status = 3, error = 4 }`, `keepalive = 4`. Null for what says nothing of the command. Throws `RangeError` for what is none.
 */
export function eventIn(message: Uint8Array): CommandEvent | null {
  const event = inner(message, 1);
  if (event === null) return null;
  for (const each of fieldsOf(event)) {
    if (!("bytes" in each)) continue;
    if (each.field === 1) return { kind: "start", pid: numberIn(each.bytes, 1) };
    if (each.field === 2) return outputIn(each.bytes);
    if (each.field === 3) return { kind: "end", exitCode: zigzag(numberIn(each.bytes, 1)), status: `${textIn(each.bytes, 3)} ${textIn(each.bytes, 4)}` };
  }
  return null;
}

function outputIn(data: Uint8Array): CommandEvent | null {
  for (const each of fieldsOf(data)) {
    if (!("bytes" in each)) continue;
    if (each.field === 2) return { kind: "stderr", bytes: each.bytes };
    if (each.field === 1 || each.field === 3) return { kind: "stdout", bytes: each.bytes };
  }
  return null;
}
