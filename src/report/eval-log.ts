import type { StoredEvent } from "../logging/stored-event.ts";
import { formatLogLine } from "./log-line.ts";

const PAGE = 1_000;
export const LOGGER = "edgewise.run";

/** `eval.log`, one line per log event, in pieces of a page: memory does not grow with the log. */
export async function* evalLog(readEvents: (after: number, limit: number) => Promise<readonly StoredEvent[]>): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const page = await readEvents(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last.seq;
    const lines = page.filter(({ type }) => type === "log").map((event) => `${formatLogLine(LOGGER, event)}\n`);
    if (lines.length > 0) yield lines.join("");
  }
}
