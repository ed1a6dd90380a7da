import { ROLLOUT_ERRORS } from "../../src/errors/codes.ts";
import type { RunHead } from "./head.ts";
import type { RolloutSummary } from "./protocol.ts";

/** First pause after a streak, doubling with each further one; after this many in a row the endpoint counts as dead. */
export const BACKOFF_MS = 5_000;
export const STRIKES_TO_FAIL = 3;

/**
 * Watches for a dead endpoint: `3 x lanes` connection failures in a row with no success between stop the claiming for a while;
 * when every rollout of the probes that follow fails too, the run is to end `endpoint_unavailable` (true is returned).
 */
export function observeHealth(head: RunHead, rollouts: readonly RolloutSummary[], lanes: number, now: number): boolean {
  const health = head.health;
  for (const rollout of rollouts) {
    const unreachable = rollout.error !== null && ROLLOUT_ERRORS[rollout.error].category === "network";
    if (!unreachable) {
      health.streak = 0;
      health.strikes = 0;
      continue;
    }
    health.streak++;
    if (health.streak < (health.strikes === 0 ? 3 * lanes : lanes)) continue;
    health.streak = 0;
    health.strikes++;
    if (health.strikes > STRIKES_TO_FAIL) return true;
    health.backoff_until = now + BACKOFF_MS * 2 ** (health.strikes - 1);
  }
  return false;
}
