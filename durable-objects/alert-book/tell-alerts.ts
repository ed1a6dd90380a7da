import { MOST_TOLD, type Occurrence } from "../../src/alerts/occurrence.ts";
import type { Env } from "../../src/env.ts";
import { EdgewiseError } from "../../src/errors/result.ts";
import { alertBookStub } from "../stubs.ts";

/**
 * Tells the alerts of a team what has happened; one request for each 20 occurrences, and nothing stored where the team has no alerts. Whoever calls keeps what
 * it tells in storage of its own until this has resolved, and calls again where it rejects: of one id the first telling counts. A deployment without alerts
 * takes everything.
 */
export async function tellAlerts(env: Env, team: string, occurrences: readonly Occurrence[]): Promise<void> {
  for (let from = 0; from < occurrences.length; from += MOST_TOLD) {
    const taken = await alertBookStub(env, team)?.take({ team, occurrences: occurrences.slice(from, from + MOST_TOLD) });
    if (taken?.ok === false) throw new EdgewiseError(taken.error.code, taken.error.message);
  }
}
