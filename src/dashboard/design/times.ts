/** A locale of its own: a browser whose own is odd (`en-US@posix`) refuses to write a time. */
const local = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

/** In the zone of whoever looks: `Nov 24, 2026, 04:00`. */
export const localText = (iso: string): string => local.format(new Date(iso));
/** `Europe/Berlin`. */
export const zoneHere = (): string => local.resolvedOptions().timeZone;
/** `2026-11-24 03:00 UTC`. */
export const utcText = (iso: string): string => `${iso.slice(0, 16).replace("T", " ")} UTC`;
