import { mix } from "../mix.ts";
import { nextCron } from "./cron.ts";
import type { Timing } from "./definition.ts";
import { spanOf } from "../config/span.ts";

/** When a schedule is due. All times are Unix milliseconds. */

/** `anchor`: what `every` counts from. The first due time after `after`; null where there is none any more. */
export function nextDue({ cron, every, time_zone, until }: Timing, anchor: number, after: number): number | null {
  const next = cron === undefined ? nextOf(spanOf(every ?? "") ?? Number.POSITIVE_INFINITY, anchor, after) : nextCron(cron, time_zone, after);
  return next === null || !Number.isFinite(next) || (until !== undefined && next > Date.parse(until)) ? null : next;
}

const nextOf = (span: number, anchor: number, after: number): number => anchor + span * Math.max(1, Math.floor((after - anchor) / span) + 1);

/** The next due times, at most `count`. */
export function nextDues(timing: Timing, anchor: number, after: number, count: number): number[] {
  const dues: number[] = [];
  for (let due = nextDue(timing, anchor, after); due !== null && dues.length < count; due = nextDue(timing, anchor, due)) dues.push(due);
  return dues;
}

/** When a due time is begun: up to `jitter` later, by the name of its schedule and itself, so that it is the same whoever asks. */
export function beginningOf(due: number, { jitter }: Timing, name: string): number {
  const span = jitter === undefined ? 0 : (spanOf(jitter) ?? 0);
  return span === 0 ? due : due + (hashOf(`${name} ${due}`) % (span + 1));
}

const hashOf = (text: string): number => [...text].reduce((state, character) => mix(state ^ (character.codePointAt(0) ?? 0)), 0);

/** A due time is begun in time within this, and within half of the time until the next one. */
const IN_TIME_MS = 5 * 60_000;

export const isInTime = (late: number, due: number, next: number | null): boolean =>
  late <= Math.min(IN_TIME_MS, ((next ?? Number.POSITIVE_INFINITY) - due) / 2);
