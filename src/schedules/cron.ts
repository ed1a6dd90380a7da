import { Cron } from "croner";
import { instantOf, localOf } from "./local-time.ts";

/** A cron pattern's local times come from the library, which reads it on the clock of UTC; which instants those are is `local-time.ts`. */

const patterns = new Map<string, Cron>();
const MOST_PATTERNS = 500;
const SHORTHAND = /^@(?:yearly|annually|monthly|weekly|daily|midnight|hourly)$/;
/** The library takes a `?` for what it is now. */
const FIELDS = /^[^\s?]+(?: +[^\s?]+){4}$/;
const RULE = "must be five fields (minute, hour, day of the month, month, day of the week), or @hourly, @daily, @weekly, @monthly or @yearly";

function patternOf(text: string): Cron {
  const known = patterns.get(text);
  if (known !== undefined) return known;
  const made = new Cron(text, { timezone: "UTC", mode: "5-part", paused: true });
  if (patterns.size >= MOST_PATTERNS) patterns.clear();
  patterns.set(text, made);
  return made;
}

/** What is wrong with a pattern; null where nothing is. */
export function cronProblem(text: string): string | null {
  if (!SHORTHAND.test(text) && !FIELDS.test(text)) return RULE;
  try {
    return patternOf(text).nextRun(new Date(0)) === null ? "names a day that never comes" : null;
  } catch (thrown) {
    return thrown instanceof Error ? `${RULE}: ${thrown.message.replace(/^CronPattern: /, "")}` : RULE;
  }
}

/** The first instant after `after` at which the pattern is due in the zone; null where there is none any more. Unix milliseconds. */
export function nextCron(text: string, zone: string, after: number): number | null {
  const pattern = patternOf(text);
  // A local time that has come, but for one that comes again, whose instant is the first one's and past: those are stepped over.
  for (let local: Date | null = new Date(localOf(after, zone)); ; ) {
    local = pattern.nextRun(local);
    if (local === null) return null;
    const instant = instantOf(local.getTime(), zone);
    if (instant > after) return instant;
  }
}
