import { type Case, CASES, CROWDS } from "./cases.ts";
import type { Figures } from "./figures.ts";
import { type FirstResults, playBeside, playCase } from "./play.ts";

/** What sharing one limit must come to, from a minute after the beginning, a change or a storm. */
export const TARGETS = { use: 0.9, refused: 0.01, jain: 0.95, beside: 2 } as const;

/** Which targets are missed; empty = none. */
export function missedBy({ use, refused, jain, failures }: Figures): readonly string[] {
  return [
    ...(use < TARGETS.use ? [`${percent(use)} of the limit is used`] : []),
    ...(refused >= TARGETS.refused ? [`${percent(refused)} of requests are refused`] : []),
    ...(jain < TARGETS.jain ? [`Jain's index is ${jain.toFixed(3)}`] : []),
    ...(failures > 0 ? [`${failures} examples ended in an error`] : []),
  ];
}

export const isLate = ({ alone, beside }: FirstResults): boolean => beside > TARGETS.beside * alone;

/** A line for each provider and number of runs whose name has `pattern` in it; how many miss a target. */
export async function table(print: (line: string) => void, pattern = "", crowds = CROWDS): Promise<number> {
  let missed = 0;
  print(`${"provider".padEnd(42)} runs    used refused   Jain  exchanges/s`);
  for (const one of CASES.filter(({ name }) => name.includes(pattern))) {
    for (const runs of crowds) {
      const { worst } = await playCase(one, runs);
      const reasons = missedBy(worst);
      if (reasons.length > 0) missed++;
      print(`${lineOf(one, runs, worst)}${reasons.length > 0 ? `  MISSED: ${reasons.join(", ")}` : ""}`);
    }
    if (one.provider.storms !== undefined) continue;
    const first = await playBeside(one);
    if (isLate(first)) missed++;
    print(
      `${one.name.padEnd(42)} first of five, p95: ${seconds(first.alone)} alone, ${seconds(first.beside)} beside ten thousand${isLate(first) ? "  MISSED" : ""}`,
    );
  }
  return missed;
}

const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
const seconds = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;
const lineOf = ({ name }: Case, runs: number, { use, refused, jain, exchanges }: Figures): string =>
  `${name.padEnd(42)} ${String(runs).padStart(4)} ${percent(use).padStart(7)} ${percent(refused).padStart(7)}  ${jain.toFixed(3)}  ${exchanges.toFixed(1).padStart(11)}`;
