import { thousands } from "./format.ts";

/** What a forecast says of a sum; in at least 90 % of runs it is between `low` and `high`. */
interface Range {
  readonly expected: number;
  readonly low: number;
  readonly high: number;
}

/** `1,200 (900 to 1,500)`, or one number where both ends are written alike. */
export function rangedText({ expected, low, high }: Range, text: (value: number) => string): string {
  const [least, most] = [text(low), text(high)];
  return least === most ? text(expected) : `${text(expected)} (${least} to ${most})`;
}
export const rangedCount = (range: Range): string => rangedText(range, thousands);
