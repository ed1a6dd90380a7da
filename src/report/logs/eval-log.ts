import type { StoredEvent } from "../../logging/stored-event.ts";
import { formatLogLine } from "./log-line.ts";

/** Events read at once: bounds the memory, and an answer. */
export const LOG_PAGE = 1_000;
export const LOGGER = "edgewise.run";

/** Lines of the log events among `events`, each with its line end. */
export const logText = (events: readonly StoredEvent[]): string =>
  events
    .filter(({ type }) => type === "log")
    .map((event) => `${formatLogLine(LOGGER, event)}\n`)
    .join("");

/** `eval.log`, one line per log event, in pieces of a page: memory does not grow with the log. */
export async function* evalLog(readEvents: (after: number, limit: number) => Promise<readonly StoredEvent[]>): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const page = await readEvents(after, LOG_PAGE);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
    const text = logText(page);
    if (text !== "") yield text;
  }
}
