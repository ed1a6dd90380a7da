import { EdgewiseError } from "../../errors/result.ts";
import { LIMITS } from "../../teams/limits.ts";
import type { Caller } from "../../teams/caller.ts";
import { logUnexpected } from "../errors.ts";

/** The platform's rate limit binding: a counter for each key and place of its network. `delta`: what this call counts for; absent = 1. */
export interface RateLimit {
  limit(options: { readonly key: string; readonly delta?: number }): Promise<{ readonly success: boolean }>;
}

/** What the binding of `wrangler.toml` lets through in a minute. */
export const COUNTED_PER_MINUTE = LIMITS.requests_per_minute.most;

/** A token with a smaller limit counts for more, so that the one counter of the deployment holds for each: on the average exactly. */
export const deltaFor = (limit: number, draw: number): number => Math.floor(COUNTED_PER_MINUTE / limit + draw);

/**
 * Refuses a token that has asked too often in the last minute. Not the owner's, who could lock themselves out; and where the binding does not answer, nobody. Throws
 * `limit_reached`.
 */
export async function checkRate(rate: RateLimit | null, { owner, token, user, limits = {} }: Caller): Promise<void> {
  if (rate === null || owner) return;
  const most = limits.requests_per_minute ?? LIMITS.requests_per_minute.deployed;
  const key = token === null ? `user ${user}` : `token ${token}`;
  if (await isLet(rate, key, deltaFor(most, Math.random()))) return;
  const { counts, retryAfter } = LIMITS.requests_per_minute;
  throw new EdgewiseError("limit_reached", `The limit of requests per minute of this ${token === null ? "user" : "token"} is ${most} (${counts}).`, {
    hint: "Ask again in a minute. To follow a run ask for its events: one request for 25 seconds.",
    retry_after_s: retryAfter,
  });
}

/**
 * Refuses whoever reads runs by links (`place`: src/api/access/place.ts) more often than a token may ask: each look wakes a run, also a guess that leads
 * nowhere. Throws `limit_reached`.
 */
export async function checkLinkRate(rate: RateLimit | null, place: string): Promise<void> {
  const { deployed, retryAfter } = LIMITS.requests_per_minute;
  if (rate === null || (await isLet(rate, `links ${place}`, deltaFor(deployed, Math.random())))) return;
  throw new EdgewiseError("limit_reached", `Links are followed too often from this address: ${deployed} requests a minute are answered.`, {
    hint: "Try again in a minute.",
    retry_after_s: retryAfter,
  });
}

export async function isLet(rate: RateLimit, key: string, delta: number): Promise<boolean> {
  try {
    return (await rate.limit(delta === 1 ? { key } : { key, delta })).success;
  } catch (thrown) {
    logUnexpected("rate limit", thrown);
    // A runtime whose binding counts calls alone.
    return delta === 1 || isLet(rate, key, 1);
  }
}
