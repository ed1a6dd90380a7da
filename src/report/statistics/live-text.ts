/** The mean of a run that goes on, in words: the same in the live display, `eval get` and a run's page. */
import type { LiveMean } from "../../metrics/one-run/live-mean.ts";
import { fixed, thousands } from "../text/format.ts";
import { intervalText } from "./uncertainty.ts";

/** What the number is of: `the first 214 of 500, in random order`; null where there is no number. */
export function liveSource({ order, examples, of, first_part, mean }: LiveMean): string | null {
  if (mean === null) return null;
  if (order === "data") return `${thousands(examples)} examples, in data order: early numbers may mislead`;
  if (of === undefined) return `the first ${thousands(examples)}, in random order part by part: the rest may differ`;
  if (first_part === true) return `${thousands(examples)} of the first ${thousands(of)} of the data set, in random order: the rest may differ`;
  const sample = of <= examples ? "" : ` of ${thousands(of)}`;
  return `the first ${thousands(examples)}${sample}, in random order`;
}

/** How sure it is, and what is open; null where neither is known. */
export function liveSureText({ ci95, range }: LiveMean): string | null {
  const parts = [
    ...(ci95 === null ? [] : [`95 % interval ${intervalText(ci95)}`]),
    ...(range === null || range[0] === range[1] ? [] : [`with what is open ${intervalText(range)}`]),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

/** `0.532 over the first 214 of 500, in random order; 95 % interval 0.465 to 0.598, with what is open 0.500 to 0.571`. */
export function liveText(live: LiveMean): string | null {
  const source = liveSource(live);
  if (source === null || live.mean === null) return null;
  const sure = liveSureText(live);
  return `${fixed(live.mean, 3)} over ${source}${sure === null ? "" : `; ${sure}`}`;
}
