/**
 * How limits are found, by provider: `node test/support/limiting/found-table.ts [PATTERN [SEEDS]]` prints a line for each, as docs/decisions/found-limits.md
 * has them. Virtual time; means over the seeds, the worst in brackets.
 */
import { cells, measure } from "./found-cells.ts";

const [pattern = "", seeds = "3"] = process.argv.slice(2);
const percent = (share: number, digits: number): string => `${(100 * share).toFixed(digits)} %`;
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

console.log("| provider | used | refused | back after |\n| --- | --- | --- | --- |");
for (const cell of cells().filter(({ name }) => new RegExp(pattern).test(name))) {
  const all = Array.from({ length: Number(seeds) }, (_, seed) => measure(cell, seed + 1));
  const [use, refused, back] = [all.map((one) => one.use), all.map((one) => one.refused), all.flatMap((one) => one.back_s ?? [])];
  const columns = [
    `${percent(mean(use), 1)} (${percent(Math.min(...use), 1)})`,
    `${percent(mean(refused), 2)} (${percent(Math.max(...refused), 2)})`,
    back.length === 0 ? "" : `${mean(back).toFixed(0)} s (${Math.max(...back)} s)`,
  ];
  console.log(`| ${[cell.name, ...columns].join(" | ")} |`);
}
