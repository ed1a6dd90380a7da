const UNITS = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
/** Ten years: longer means for ever. */
const MOST_MS = 3_650 * UNITS.d;
export const LIFETIME_RULE = "must be a number and m, h or d, such as 30d, from 1m to 3650d";

/** Milliseconds of a text such as `30d`; null for any other. */
export function lifetime(text: string): number | null {
  const [, number, unit] = /^(\d{1,7})([mhd])$/.exec(text) ?? [];
  if (number === undefined || unit === undefined) return null;
  const ms = Number(number) * UNITS[unit as keyof typeof UNITS];
  return ms > 0 && ms <= MOST_MS ? ms : null;
}
