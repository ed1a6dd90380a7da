import type { Permits } from "../../clients/client.ts";
import { onAbort } from "../../clients/transport/on-abort.ts";
import { EdgewiseError } from "../../errors/result.ts";

/**
 * As `permits`, but that a call for which too little is left is not rejected: it waits until its signal ends it. The run was told, and ends what waits; a call that was
 * rejected would be the outcome of its rollout, or of its scores, and what is kept of the rollout would be lost with it.
 */
export const untilEnded = (permits: Permits): Permits => ({
  ...(permits.reads === undefined ? {} : { reads: permits.reads }),
  enter: async (signal, cost) => {
    try {
      await permits.enter(signal, cost);
    } catch (thrown) {
      if (!(thrown instanceof EdgewiseError) || thrown.code !== "over_budget" || !signal) throw thrown;
      await new Promise<never>((_, reject) => {
        if (signal.aborted) reject(signal.reason);
        else onAbort(signal, () => reject(signal.reason));
      });
    }
  },
  leave: (outcome, cost) => permits.leave(outcome, cost),
});
