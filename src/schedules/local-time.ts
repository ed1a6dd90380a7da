/**
 * Local times of a zone, as numbers: the Unix milliseconds that the same reading of a clock in UTC would have. Which instants they are is decided here:
 * each local time is one instant, so that what is due at it is due once.
 */

const HOUR_MS = 3_600_000;
/** No zone is further from UTC, and none changes twice within this time on each side of an instant. */
const AROUND_MS = 24 * HOUR_MS;

const formats = new Map<string, Intl.DateTimeFormat>();
const MOST_FORMATS = 200;

/** Throws `RangeError` for a zone that the runtime does not know. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US-u-ca-iso8601-nu-latn", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
  if (formats.size >= MOST_FORMATS) formats.clear();
  formats.set(zone, made);
  return made;
}

export function isTimeZone(zone: string): boolean {
  try {
    return /^[A-Za-z][\w+-]*(?:\/[\w+-]+)*$/.test(zone) && formatOf(zone) !== undefined;
  } catch {
    return false;
  }
}

/** What a clock of the zone reads at an instant. */
export function localOf(instant: number, zone: string): number {
  if (zone === "UTC") return instant;
  const read: Record<string, number> = {};
  for (const { type, value } of formatOf(zone).formatToParts(instant)) read[type] = Number(value);
  const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = read;
  return Date.UTC(year, month - 1, day, hour, minute, second) + (((instant % 1_000) + 1_000) % 1_000);
}

/**
 * The instant of a local time: of one that comes twice the first, of one that does not exist the moment at which the clock is set forward over it. The
 * later of two local times is never the earlier instant.
 */
export function instantOf(local: number, zone: string): number {
  if (zone === "UTC") return local;
  const offset = (instant: number): number => localOf(instant, zone) - instant;
  // Both sides of whatever change there is around it.
  const [before, after] = [offset(local - AROUND_MS), offset(local + AROUND_MS)];
  const found = [local - Math.max(before, after), local - Math.min(before, after)].find((instant) => localOf(instant, zone) === local);
  if (found !== undefined) return found;
  // The clock reads less before the change and more from it on.
  let [early, late] = [local - AROUND_MS, local + AROUND_MS];
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2);
    if (localOf(middle, zone) < local) early = middle;
    else late = middle;
  }
  return late;
}
