/** A locale of its own: a browser whose own is odd (`en-US@posix`) refuses to write a time. */
const FORMAT = { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" } as const;
const local = new Intl.DateTimeFormat("en", FORMAT);

/** In the zone of whoever looks: `Nov 24, 2026, 04:00`. */
export const localText = (iso: string): string => local.format(new Date(iso));
/** `Europe/Berlin`. */
export const zoneHere = (): string => local.resolvedOptions().timeZone;
/** `2026-11-24 03:00 UTC`. */
export const utcText = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;
/** In a zone by its name: `Nov 24, 2026, 04:00 Europe/Berlin`; null where this browser does not know it. */
export function zonedText(iso: string, zone: string): string | null {
  try {
    return `${new Intl.DateTimeFormat("en", { ...FORMAT, timeZone: zone }).format(new Date(iso))} ${zone}`;
  } catch {
    return null;
  }
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** A value that something tells, with its moments in the zone of whoever looks, wherever they stand in it. */
export function withLocalMoments(value: unknown): unknown {
  if (typeof value === "string") return MOMENT.test(value) && !Number.isNaN(Date.parse(value)) ? localText(value) : value;
  if (Array.isArray(value)) return value.map(withLocalMoments);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withLocalMoments(each)]));
}
