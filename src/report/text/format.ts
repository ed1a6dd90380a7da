/** Numbers and times as the reference prints them: Python's rounding, so that reports compare line by line. */

/**
 * Fixed decimals, exact ties to the even digit (`1.5` -> `2`, `2.5` -> `2` with 0 digits), where `toFixed` rounds them up.
 * A binary fraction is a decimal tie with d digits only if it is an odd multiple of 2^-(d+1).
 */
export function fixed(value: number, digits: number): string {
  const text = value.toFixed(digits);
  const halves = value * 2 ** (digits + 1);
  const last = Number(text.at(-1));
  const tie = Number.isInteger(halves) && halves % 2 !== 0;
  return tie && last % 2 === 1 ? `${text.slice(0, -1)}${last - 1}` : text;
}

/** A number inside a list: at most `digits` decimals, at least one (`0.1`, `1.0`, `0.333`). */
export function listNumber(value: number, digits = 3): string {
  const text = String(Number(fixed(value, digits)));
  return /^-?\d+$/.test(text) ? `${text}.0` : text;
}

/** A number in a panel: whole as it is, below 0.01 with 4 decimals, else with 3. */
export function panelNumber(value: number): string {
  if (Number.isInteger(value)) return String(value);
  return fixed(value, Math.abs(value) < 0.01 ? 4 : 3);
}

/** Seconds as `Xd Yh`, `Xh Ym`, `Xm Ys` (a zero second part left out), `Xms` below one second, else `Xs`. */
export function formatSeconds(seconds: number): string {
  if (seconds >= 86_400) return twoParts(seconds, 86_400, "d", 3_600, "h");
  if (seconds >= 3_600) return twoParts(seconds, 3_600, "h", 60, "m");
  if (seconds >= 60) return twoParts(seconds, 60, "m", 1, "s");
  return seconds < 1 ? `${fixed(seconds * 1e3, 0)}ms` : `${fixed(seconds, 0)}s`;
}

function twoParts(seconds: number, large: number, largeUnit: string, small: number, smallUnit: string): string {
  const rest = Math.floor((seconds % large) / small);
  return `${Math.floor(seconds / large)}${largeUnit}${rest > 0 ? ` ${rest}${smallUnit}` : ""}`;
}

/** A count with commas between thousands. */
export const thousands = (value: number): string => fixed(value, 0).replace(/\B(?=(\d{3})+$)/g, ",");
