/** How the state of a run that works is worded: the same in the terminal and in a browser. */
import { boundText } from "../../endpoint-limits/bound-text.ts";
import type { Limited } from "../../endpoint-limits/bound.ts";
import { dollarsText } from "../text/cost-text.ts";
import { formatSeconds } from "../text/format.ts";
import { singleLine } from "../text/printable.ts";

/** Requests of a run. Times are Unix milliseconds. */
export interface ShownVitals {
  readonly in_flight: number;
  readonly oldest_ms?: number;
  readonly waiting: number;
  readonly paused_until: number | null;
  readonly limited?: Limited;
}

/** `$0.1234 of $5.00`, with a + where it is not of all rollouts; null where it is of none. `most`: what the run may spend, where it has a budget. */
export function costSoFar(cost: { readonly total_usd: number; readonly unpriced_rollouts?: number } | null | undefined, most?: number): string | null {
  if (cost === undefined || cost === null) return null;
  return `${dollarsText(cost.total_usd)}${(cost.unpriced_rollouts ?? 0) > 0 ? "+" : ""}${most === undefined ? "" : ` of ${dollarsText(most)}`}`;
}

/** Its status is final, and its results are not there yet. */
export const isEnding = ({ phase }: { readonly phase: string }): boolean => phase === "draining" || phase === "finalising";

export const endingText = ({ scoring_until }: { readonly scoring_until?: number }): string =>
  scoring_until === undefined ? "writing the results" : `scoring what is generated, until ${timeOfDay(scoring_until)} at most`;

/** With the age of the oldest, where that is a second and more. */
export function inFlightText({ in_flight, oldest_ms = 0 }: ShownVitals): string {
  const age = in_flight === 0 || oldest_ms < 1000 ? "" : `, the oldest ${formatSeconds(Math.floor(oldest_ms / 1000))}`;
  return `${in_flight} in flight${age}`;
}

/** Requests that wait for the endpoint, and for what; null where none does and it did not ask to be left alone. `clock`: Unix milliseconds now. */
export function waitingText({ waiting, paused_until, limited }: ShownVitals, clock: number): string | null {
  const until = paused_until !== null && paused_until > clock ? ` until ${timeOfDay(paused_until)}` : "";
  if (waiting === 0) return until === "" ? null : `rate limit${until}`;
  const limit = limited === undefined ? "the rate limit" : singleLine(boundText(limited));
  return `${waiting} ${waiting === 1 ? "request waits" : "requests wait"} for ${limit}${until}`;
}

/** Local time, HH:MM:SS. */
export function timeOfDay(unixMs: number): string {
  const date = new Date(unixMs);
  return [date.getHours(), date.getMinutes(), date.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}
