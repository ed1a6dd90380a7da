import { join } from "node:path";
import type { Measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";
import { costOf, resultsFolder } from "./travel/export.ts";

const SMALL = 20_000;
const LARGE = 100_000;
const MIB = 1024 * 1024;

/** Two finished results folders held against each other: how long it takes, and what more rows add to the memory of the command. */
export const comparing: Scenario = async (places) => {
  const { folder } = places("compare");
  const runs = async (rows: number) => [await resultsFolder(join(folder, `a${rows}`), rows), await resultsFolder(join(folder, `b${rows}`), rows)];
  const few = await costOf(folder, ["compare", ...(await runs(SMALL))]);
  const large = await runs(LARGE);
  const many = await costOf(folder, ["compare", ...large]);
  // As many groups as examples: the most that there can be.
  const grouped = await costOf(folder, ["compare", ...large, "-g", "row"]);
  const other = await resultsFolder(join(folder, "other"), LARGE, true);
  const differing = await costOf(folder, ["compare", large[0] ?? "", other]);
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "compare", name, value, unit });
  return [
    { ...measure(`two runs of ${LARGE} rows`, many.seconds, "s"), target: { at_most: 3 } },
    measure(`peak memory of ${LARGE} rows each`, many.peak / MIB, "MiB"),
    { ...measure(`two runs of ${LARGE} rows, over groups of examples (-g)`, grouped.seconds, "s"), target: { at_most: 3 } },
    measure("peak memory over groups of examples", grouped.peak / MIB, "MiB"),
    { ...measure(`two runs of ${LARGE} rows, of which every second example is another`, differing.seconds, "s"), target: { at_most: 3 } },
    measure("peak memory where examples differ", differing.peak / MIB, "MiB"),
    {
      ...measure(`peak memory that a row more adds, beside ${SMALL} rows`, (many.peak - few.peak) / (2 * (LARGE - SMALL)), "bytes"),
      target: { at_most: 1_000 },
    },
  ];
};
