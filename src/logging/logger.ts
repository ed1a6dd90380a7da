/**
 * The library's own log: lines with a level, a place and fields, the same in workerd and in Node. Quiet unless something is wrong;
 * `EDGEWISE_LOG_LEVEL` (or `VF_LOG_LEVEL`), `setupLogging` and `logLevel` say otherwise. Prompts, answers and keys never go here.
 */
import { mask } from "../errors/masking.ts";

export const LOG_LEVELS = ["debug", "info", "warning", "error", "silent"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = Readonly<Record<string, string | number | boolean | null>>;

export interface LogLine {
  readonly level: Exclude<LogLevel, "silent">;
  /** Which part of the library speaks. */
  readonly place: string;
  readonly message: string;
  readonly fields: LogFields;
}

export type LogSink = (line: LogLine) => void;

export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warning(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
}

const rank = (level: LogLevel): number => LOG_LEVELS.indexOf(level);

/** A line for a terminal: `WARNING environment: … example_id=3`. */
export function logText({ level, place, message, fields }: LogLine): string {
  const rest = Object.entries(fields).map(([name, value]) => ` ${name}=${typeof value === "string" ? JSON.stringify(value) : value}`);
  return `${level.toUpperCase()} ${place}: ${message}${rest.join("")}`;
}

/** Standard error in Node, the log of the Worker in workerd. */
const toConsole: LogSink = (line) => {
  const text = mask(logText(line));
  if (line.level === "error") console.error(text);
  else console.warn(text);
};

/** Reads a level as people write it: any case, and Python's names and numbers too. Null when it is none. */
export function readLevel(text: string | null | undefined): LogLevel | null {
  const name = text?.trim().toLowerCase() ?? "";
  const level = OTHER_NAMES[name] ?? name;
  return (LOG_LEVELS as readonly string[]).includes(level) ? (level as LogLevel) : null;
}

const OTHER_NAMES: Readonly<Record<string, LogLevel>> = {
  warn: "warning",
  critical: "error",
  fatal: "error",
  off: "silent",
  none: "silent",
  "10": "debug",
  "20": "info",
  "30": "warning",
  "40": "error",
  "50": "error",
};

const DEFAULT_LEVEL: LogLevel = "warning";

/** What the process was started with: `EDGEWISE_LOG_LEVEL`, else `VF_LOG_LEVEL`; `warning` when neither is a level. */
function levelOfProcess(): LogLevel {
  const { process } = globalThis as { process?: { env?: Record<string, string | undefined> } };
  return readLevel(process?.env?.EDGEWISE_LOG_LEVEL) ?? readLevel(process?.env?.VF_LOG_LEVEL) ?? DEFAULT_LEVEL;
}

let current: { level: LogLevel; sink: LogSink } | null = null;
const settings = (): { level: LogLevel; sink: LogSink } => (current ??= { level: levelOfProcess(), sink: toConsole });

export interface LoggingOptions {
  /** Default: what the environment of the process says, else `warning`. */
  readonly level?: LogLevel;
  /** Where lines go; default: the console. */
  readonly sink?: LogSink;
}

/** Sets level and sink for the whole process; what is left out goes back to its default. */
export function setupLogging({ level = levelOfProcess(), sink = toConsole }: LoggingOptions = {}): void {
  current = { level, sink };
}

/** Runs `fn` with the log at `level`, and puts the level back when it has ended. Whatever else runs meanwhile logs at that level too. */
export async function logLevel<T>(level: LogLevel, fn: () => T | Promise<T>): Promise<T> {
  const before = settings();
  current = { ...before, level };
  try {
    return await fn();
  } finally {
    current = { ...settings(), level: before.level };
  }
}

/** The logger of one part of the library. */
export function loggerOf(place: string): Logger {
  const at =
    (level: LogLine["level"]) =>
    (message: string, fields: LogFields = {}): void => {
      const { level: least, sink } = settings();
      if (rank(level) >= rank(least)) sink({ level, place, message, fields });
    };
  return { debug: at("debug"), info: at("info"), warning: at("warning"), error: at("error") };
}
