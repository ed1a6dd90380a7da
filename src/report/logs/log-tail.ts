import type { StoredEvent } from "../../logging/stored-event.ts";
import { forMarkup } from "../text/client-markup.ts";
import { LOGGER } from "./eval-log.ts";
import { formatLogLine } from "./log-line.ts";

/** Log lines shown at once, and characters of one line: what `prime eval logs` prints unless told otherwise. */
export const TAIL_LINES = 1_000;
const LINE_CHARACTERS = 2_000;

/** A log event as one line without control characters; an over-long one is cut, always at the same place. */
export function logLine(event: StoredEvent): string {
  const line = formatLogLine(LOGGER, event);
  return line.length > LINE_CHARACTERS ? `${line.slice(0, LINE_CHARACTERS)}…` : line;
}

/**
 * The newest lines of a log as the `prime` client reads them: it finds what is new by comparing lines, so a line
 * never changes. Null before the first.
 */
export function clientLog(events: readonly StoredEvent[]): string | null {
  return events.length === 0 ? null : `${events.map((event) => forMarkup(logLine(event))).join("\n")}\n`;
}
