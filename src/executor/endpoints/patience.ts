import type { Outlasting } from "../../clients/client.ts";
import type { Outage } from "../../clients/outage.ts";
import { shownUrl } from "../../clients/secrets.ts";
import { callUrl } from "../../config/endpoints/providers.ts";
import { ROLLOUT_ERRORS } from "../../errors/codes.ts";
import type { ExecutorBudget, ExecutorPorts } from "../ports.ts";
import type { RunNotes } from "./notes.ts";

/** A shorter absence is one of many things that happen to a request. */
const WORTH_TELLING_MS = 3_000;

export interface OutlastedPlace {
  readonly outage: Outage;
  readonly url: string;
  readonly notes: Pick<RunNotes, "warning">;
  /** Whether anything was in the run, so that the place is known to be the right one. */
  readonly answered: () => boolean;
  /** Whether a budget pays for what is asked there: then it is asked for nothing before it is asked for an answer again. */
  readonly isPaid: boolean;
  readonly fetch: ExecutorPorts["fetch"];
}

/** A place that says nothing for so long is asked for an answer all the same: it takes connections, as far as is known. Milliseconds. */
const LOOK_MS = 5_000;

/** Whether anything answers at `url`, whatever it says: without a key, and without anything that is billed. */
async function isThere(fetch: ExecutorPorts["fetch"], url: string, signal: AbortSignal | null): Promise<boolean> {
  const late = AbortSignal.timeout(LOOK_MS);
  try {
    const { body } = await fetch(url, { method: "GET", redirect: "manual", signal: signal === null ? late : AbortSignal.any([signal, late]) });
    await body?.cancel().catch(() => undefined);
    return true;
  } catch {
    signal?.throwIfAborted();
    return late.aborted;
  }
}

/** How long requests of a run wait for a place that answers nobody, and what the run is told meanwhile; null = no longer than their own retries last. */
export function outlastingOf({ outage: patience, firstAnswer }: Pick<ExecutorBudget, "outage" | "firstAnswer">, place: OutlastedPlace): Outlasting | null {
  if (patience === 0) return null;
  const { outage, url, notes, answered, isPaid, fetch } = place;
  const patienceMs: Outlasting["patienceMs"] = (code) => {
    if (answered()) return patience;
    return ROLLOUT_ERRORS[code].category === "network" ? firstAnswer : 0;
  };
  let told = 0;
  return {
    outage,
    patienceMs,
    ...(isPaid ? { isThere: (signal) => isThere(fetch, callUrl(url), signal) } : {}),
    onGone: (code) => {
      const { age, spell } = outage;
      if (age === null || age < WORTH_TELLING_MS || told === spell) return;
      told = spell;
      const seconds = Math.round(patienceMs(code) / 1_000);
      notes.warning(`gone ${url} ${spell}`, `${shownUrl(url)} answers nobody (${code}); one request at a time asks again, for up to ${seconds} s`);
    },
    onBack: () => {
      if (told === 0 || outage.age !== null) return;
      notes.warning(`back ${url} ${told}`, `${shownUrl(url)} answers again, after ${Math.round(outage.lastMs / 1_000)} s`);
      told = 0;
    },
  };
}

/** Whether a request that has not been sent waits no longer for a place that nobody reaches: sent, it ends as those do that were. */
export const isOutOfPatience = ({ outage }: Pick<OutlastedPlace, "outage">, outlasting: Outlasting | null): boolean =>
  outlasting === null || (outage.age ?? 0) >= outlasting.patienceMs("connection_failed");
