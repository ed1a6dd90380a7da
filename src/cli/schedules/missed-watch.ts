import { reasonOf } from "../terminal/cli-error.ts";
import type { ServiceClient } from "../connection/http-client.ts";
import { type ListedSchedule, schedulePath } from "./schedule-answer.ts";
import { missedLine } from "./schedule-lines.ts";

/** How often it looks; what was missed is found soon after a start. */
const FIRST_MS = 1_000;
const LOOK_MS = 15_000;

/**
 * Tells of each due time at which no service ran, once, until `signal`. `since`: Unix milliseconds before the service was started; what was
 * found missed earlier another one has told. A look that fails is told too, and made again.
 */
export function watchMissed(client: ServiceClient, signal: AbortSignal, since: number, tell: (line: string) => void): void {
  const told = new Set<string>();
  let failed = false;
  const look = async (): Promise<void> => {
    try {
      const { data } = await client.json<{ data: readonly ListedSchedule[] }>("GET", schedulePath(null, undefined), { signal });
      for (const schedule of data) {
        const { name, missed } = schedule;
        if (missed === null || Date.parse(missed.at) < since || told.has(`${name} ${missed.seq}`)) continue;
        told.add(`${name} ${missed.seq}`);
        tell(missedLine(schedule));
      }
      failed = false;
    } catch (error) {
      if (!signal.aborted && !failed) tell(`warning: schedules cannot be looked at: ${reasonOf(error)}`);
      failed = true;
    }
    if (!signal.aborted) setTimeout(() => void look(), LOOK_MS).unref();
  };
  setTimeout(() => void look(), FIRST_MS).unref();
}
