/** How the code of a run is worded for people. */
import { shortDigest, TO_GO_ON } from "../../config/env-digest.ts";
import type { Limited } from "../../endpoint-limits/bound.ts";
import { boundText } from "../../endpoint-limits/bound-text.ts";
import { batchWaitText, type ShownBatches } from "./batch-text.ts";
import { thousands } from "./format.ts";
import { singleLine } from "./printable.ts";

/** Rollouts by the digest of the code that made them; null where all are of one. */
export function codesText(env_digests: Readonly<Record<string, number>> | undefined): string | null {
  const entries = Object.entries(env_digests ?? {}).filter(([, rollouts]) => rollouts > 0);
  if (entries.length < 2) return null;
  return `${entries.length} versions of the environment: ${entries.map(([digest, rollouts]) => `${shortDigest(digest)} ${thousands(rollouts)} rollouts`).join(", ")}`;
}

/** What a run waits for before it can go on. Times are Unix milliseconds. */
export interface Waits {
  /** Somebody who continues it, and what is in flight still. */
  readonly paused?: { readonly at: number };
  readonly vitals?: { readonly in_flight: number };
  /** Somebody who has its code. */
  readonly waiting_for?: { readonly env_digest: string; readonly found: string | null; readonly until: number };
  /** Another attempt to load its environment, or to read its examples. */
  readonly loading?: { readonly attempts: number; readonly message: string; readonly retry_at: number };
  /** Answers of its batches. */
  readonly batch?: ShownBatches;
  /** It has ended, and waits for nothing. */
  readonly settled?: boolean;
}

/** The limit that requests of a run wait for, while it goes on; null when none does. */
export function limitedText({ waiting, limited }: { readonly waiting: number; readonly limited?: Limited }): string | null {
  if (waiting === 0 || limited === undefined) return null;
  return `${thousands(waiting)} ${waiting === 1 ? "request" : "requests"} for ${singleLine(boundText(limited))}`;
}

/** Null when it waits for nothing; `time` words Unix milliseconds. */
export function waitText({ paused, vitals, waiting_for, loading, batch, settled }: Waits, time: (unixMs: number) => string): string | null {
  if (paused !== undefined) return pauseText(paused.at, vitals?.in_flight ?? 0, time);
  if (waiting_for !== undefined) return codeWaitText(waiting_for, time);
  if (loading === undefined) return batch === undefined || settled === true ? null : batchWaitText(batch);
  const { attempts, message, retry_at } = loading;
  return `tried again at ${time(retry_at)}, after ${attempts} ${attempts === 1 ? "attempt" : "attempts"} that failed: ${singleLine(message)}`;
}

function pauseText(at: number, inFlight: number, time: (unixMs: number) => string): string {
  const ending = inFlight === 0 ? "" : `; ${thousands(inFlight)} ${inFlight === 1 ? "request is" : "requests are"} finished`;
  return `paused since ${time(at)}${ending}`;
}

function codeWaitText({ env_digest, found, until }: NonNullable<Waits["waiting_for"]>, time: (unixMs: number) => string): string {
  const other = found === null ? "who asked has no such environment" : `who asked has ${shortDigest(found)}`;
  return `waiting until ${time(until)} for an executor with the code of this run, ${shortDigest(env_digest)} (${other}); ${TO_GO_ON}`;
}
