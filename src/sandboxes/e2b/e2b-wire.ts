/** E2B's wire, as its packages speak it (`e2b` 2.63.0 from the Python registry): REST for sandboxes, and in each of them `envd`: files by HTTP, processes by Connect in JSON. */
import type { CommandEvent } from "../wire/remote-command.ts";
import { isRecord } from "../wire/provider-http.ts";

export const PROVIDER = "E2B";
export const ENVD_PORT = 49_983;
export const START = "/process.Process/Start";
/** Of a running stream, in seconds: proxies end what is silent. */
export const KEEPALIVE = { "Keepalive-Ping-Interval": "50" };
/** From here on `envd` knows whose files and processes they are where nobody says. */
const DEFAULT_USER_SINCE = [0, 4] as const;

/** What makes a request one of the user that templates have, where `envd` is too old to know. */
export function userOf(envdVersion: string): Readonly<Record<string, string>> {
  const [major = 0, minor = 0] = envdVersion.split(".").map(Number);
  const [fromMajor, fromMinor] = DEFAULT_USER_SINCE;
  return major > fromMajor || minor >= fromMinor ? {} : { Authorization: `Basic ${btoa("user:")}` };
}

/** Labels are keys of its metadata, all with this value. */
const LABEL = "label";
export const metadataOf = (labels: readonly string[]): Readonly<Record<string, string>> => Object.fromEntries(labels.map((label) => [label, LABEL]));
export const labelsIn = (metadata: unknown): readonly string[] =>
  isRecord(metadata) ? Object.entries(metadata).flatMap(([name, value]) => (value === LABEL ? [name] : [])) : [];
/** The same as a filter: names and values are encoded twice. */
export const metadataFilter = (labels: readonly string[]): string =>
  new URLSearchParams(labels.map((label): [string, string] => [encodeURIComponent(label), LABEL])).toString();

/** The first message of a process. */
export const startRequest = (command: string, cwd: string | null): Uint8Array =>
  new TextEncoder().encode(
    JSON.stringify({ process: { cmd: "/bin/bash", args: ["-l", "-c", command], envs: {}, ...(cwd === null ? {} : { cwd }) }, stdin: false }),
  );

const bytesIn = (value: unknown): Uint8Array => Uint8Array.from(atob(typeof value === "string" ? value : ""), (character) => character.charCodeAt(0));

/** One message of a process; null for what says nothing of it. What is 0, false or empty is left out of JSON. Throws `SyntaxError` for what is none. */
export function eventIn(message: Uint8Array): CommandEvent | null {
  const said: unknown = JSON.parse(new TextDecoder().decode(message));
  const event = isRecord(said) && isRecord(said.event) ? said.event : {};
  if (isRecord(event.start)) return { kind: "start", pid: Number(event.start.pid ?? 0) };
  if (isRecord(event.data)) {
    const { stdout, stderr, pty } = event.data;
    if (stderr !== undefined) return { kind: "stderr", bytes: bytesIn(stderr) };
    return { kind: "stdout", bytes: bytesIn(stdout ?? pty) };
  }
  if (!isRecord(event.end)) return null;
  const { exitCode = 0, status = "", error = "" } = event.end;
  return { kind: "end", exitCode: Number(exitCode), status: `${String(status)} ${String(error)}` };
}
