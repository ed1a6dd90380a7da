const UNITS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

/** Milliseconds of a text such as `90s`, `5m`, `6h` or `1d`; null for any other. */
export function spanOf(text: string): number | null {
  const [, number, unit] = /^(\d{1,7})([smhd])$/.exec(text) ?? [];
  return number === undefined || unit === undefined ? null : Number(number) * UNITS[unit as keyof typeof UNITS];
}

export const SPAN_RULE = "must be a number and s, m, h or d, such as 90s, 5m, 6h or 1d";
