/** The metrics of a step's run for the tasks that share a value, by the names of a series: `<metric>[<key>=<value>]`. */
import { bucketEstimates, keyName } from "../metrics/named/breakdown-names.ts";
import { METRICS } from "../metrics/named/metric-registry.ts";
import { metadataUnder } from "../metrics/named/task-metadata.ts";
import type { TaskOfRows } from "../metrics/named/task-table.ts";
import { isNamed } from "./run-values.ts";
import type { Breakdown } from "./state.ts";

/** Numbers of the buckets of one step's evaluation, and characters of a value that is in their names: a thousand steps are shown in one answer of an object, which has 32 MiB. */
const MOST_NUMBERS = 100;
const MOST_CHARACTERS = 50;

/** What of a row is needed. */
export const metadataOfKeys = (keys: readonly string[]): ReturnType<typeof metadataUnder> => metadataUnder(keys, MOST_CHARACTERS + 1);

/** `independent`: as of `valuesOfRewards`. */
export function breakdownOf(names: readonly string[], keys: readonly string[], tasks: readonly TaskOfRows[], independent: boolean): Breakdown {
  const asked = names.filter(isNamed);
  const scored = tasks.filter(({ rewards }) => rewards.length > 0);
  let numbers = 0;
  const isWide = (key: string): boolean => {
    const values = new Set(scored.map(({ metadata }) => String(metadata[key] ?? "")));
    if (numbers + values.size * asked.length > MOST_NUMBERS || [...values].some(({ length }) => length > MOST_CHARACTERS)) return true;
    numbers += values.size * asked.length;
    return false;
  };
  const wide = new Set(keys.filter(isWide));
  const estimates = bucketEstimates(
    METRICS,
    asked,
    keys.filter((key) => !wide.has(key)),
    scored,
  );
  const values = [...estimates].map(([name, { value, ci95 }]) => [name, { value, ...(independent && ci95 !== null ? { ci95 } : {}) }] as const);
  return { values: Object.fromEntries(values), missing: [...wide].flatMap((key) => asked.map((metric) => keyName(metric, key))) };
}
