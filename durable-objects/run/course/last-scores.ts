import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { UnitRange } from "../protocol.ts";
import { debtOf, termsOf } from "./repair.ts";

/** How long the end of a run waits for scores of what is generated and nobody holds. Milliseconds. */
export const LAST_SCORES_MS = 120_000;
/** Units that are scored so at most: they are named in the head. What is beyond waits for a resume. */
const MOST_UNITS = 1_000;

const isReturned = (ranges: readonly UnitRange[], unit: number): boolean => ranges.some(({ lo, hi }) => lo <= unit && unit < hi);

/** Of these units those that nobody holds. */
function waiting(ledger: Ledger, units: readonly number[]): number[] {
  const [first, last] = [units[0], units.at(-1)];
  if (first === undefined || last === undefined) return [];
  const ranges = ledger.returnedIn({ lo: first, hi: last + 1 });
  return units.filter((unit) => isReturned(ranges, unit));
}

/** Units that nobody holds and of which every rollout is generated: kept, or a row that stays where the others are repaired. */
export function generatedUnits(ledger: Ledger, head: RunHead): number[] {
  const { rollouts_per_example: r } = ledger.config();
  const terms = termsOf(head, ledger.config());
  const kept = new Map<number, Set<number>>();
  for (const { unit, rollouts, unscored = [] } of ledger.piecesIn({ lo: 0, hi: head.n ?? 0 })) {
    const known = kept.get(unit) ?? new Set();
    for (const rollout of [...rollouts, ...unscored]) known.add(rollout);
    kept.set(unit, known);
  }
  const isWhole = (unit: number, rollouts: ReadonlySet<number>): boolean => {
    if (rollouts.size === r) return true;
    const [row] = ledger.owedIn({ lo: unit, hi: unit + 1 });
    return row?.rollouts.every((rollout, index) => rollouts.has(index) || debtOf(rollout, terms) !== "rollout") === true;
  };
  const whole = [...kept].flatMap(([unit, rollouts]) => (isWhole(unit, rollouts) ? [unit] : []));
  return waiting(
    ledger,
    whole.sort((a, b) => a - b),
  );
}

/** Nothing more is scored, and whoever is at it stops. */
export function endLastScores(head: RunHead): void {
  delete head.last_scores;
  delete head.scores_rest;
  head.drain = "abort";
}

/**
 * Once what was open when the run ended has ended too: what is generated and nobody holds is scored, within `LAST_SCORES_MS` and each unit
 * twice at most. Called while the run drains, after every transition.
 */
export function scoreTheRest(ledger: Ledger, head: RunHead, context: RunContext): void {
  const { last_scores: last } = head;
  if (last !== undefined && context.now >= last.until) return endLastScores(head);
  if (head.scores_rest !== true || ledger.tickets().length > 0) return;
  if (last === undefined) {
    const units = generatedUnits(ledger, head).slice(0, MOST_UNITS);
    if (units.length === 0) return;
    head.last_scores = { until: context.now + LAST_SCORES_MS, units, given: [] };
    const examples = units.length === 1 ? "1 example that is generated is" : `${units.length} examples that are generated are`;
    return logEvent(ledger, head, context, "INFO", `${examples} scored before the run rests, for ${LAST_SCORES_MS / 1_000} s at most`);
  }
  if (last.units.length > 0) return;
  const units = last.again === true ? [] : waiting(ledger, last.given);
  if (units.length === 0) return endLastScores(head);
  head.last_scores = { until: last.until, units, given: [], again: true };
}

/** The next units to be scored, adjacent ones and at most so many; null when there are none. They are in no returned range any more. */
export function takeLast(ledger: Ledger, head: RunHead, most: number): UnitRange | null {
  const { last_scores: last } = head;
  const [lo] = last?.units ?? [];
  if (last === undefined || lo === undefined || most <= 0) return null;
  let hi = lo + 1;
  while (hi - lo < most && last.units[hi - lo] === hi) hi++;
  head.last_scores = { ...last, units: last.units.slice(hi - lo), given: [...last.given, ...last.units.slice(0, hi - lo)] };
  for (const range of ledger.returnedIn({ lo, hi })) {
    ledger.deleteReturned(range.lo);
    if (range.lo < lo) ledger.putReturned({ lo: range.lo, hi: lo });
    if (range.hi > hi) ledger.putReturned({ lo: hi, hi: range.hi });
  }
  head.pending -= hi - lo;
  return { lo, hi };
}
