import { singleLine } from "../text/printable.ts";

export interface LogEntry {
  /** Unix milliseconds. */
  readonly time: number;
  readonly level: "DEBUG" | "INFO" | "WARNING" | "ERROR";
  readonly message: string;
}

/** `YYYY-MM-DD HH:MM:SS - logger.name - LEVEL - message`, UTC, without a line end. Always a single line. */
export const formatLogLine = (logger: string, entry: LogEntry): string =>
  `${new Date(entry.time).toISOString().slice(0, 19).replace("T", " ")} - ${singleLine(logger)} - ${entry.level} - ${singleLine(entry.message)}`;
