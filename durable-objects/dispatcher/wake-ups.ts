import { QUEUE_CONSUMERS } from "../../src/limits.ts";
import type { WakeUp } from "./dispatcher-control.ts";
import { FIRST_SLICE_MS } from "./fleet.ts";
import type { Nudge } from "./offers.ts";

/** After how long the first consumer of a queue looks again, having made room for the platform's decision on more of them. */
export const LOOK_AGAIN_MS = 1_000;

export interface WakeUpPlan {
  readonly queues: number;
  /** The queue that is next in turn. */
  readonly from: number;
  /** Wake-ups on their way already. */
  readonly expected: number;
  /** Executors that ask for runs at present. */
  readonly fleet: number;
  /** A local queue has one consumer, which never becomes more and serves every run. */
  readonly local: boolean;
}

/**
 * Locally one message wakes all that a queue can: one for each run and nudge stayed in the queues (160,000 of a thousand runs), and each began an
 * executor that found nothing. None is needed where every queue has its executor, and another message to begin the next.
 */
function localWakeUps([first]: readonly Nudge[], { queues, expected, fleet }: WakeUpPlan): WakeUp[][] {
  const isAwake = fleet >= queues && expected >= queues;
  return Array.from({ length: queues }, () => (first === undefined || isAwake ? [] : [wakeUp(first)]));
}

const wakeUp = ({ run, seq }: Nudge): WakeUp => ({ protocol: 1, run, seq, slice_ms: FIRST_SLICE_MS });

/**
 * Messages by queue. No more are on their way than there can be consumers: whoever comes of one asks for the neediest run, not for the one
 * that it was sent for. The platform decides on more consumers of a queue when one ends, so while the fleet is small the first of every
 * queue but one is to end at once and to look again; one begins, so that no run waits for that.
 */
export function wakeUpsOf(nudges: readonly Nudge[], plan: WakeUpPlan): WakeUp[][] {
  if (plan.local) return localWakeUps(nudges, plan);
  const { queues, from, expected, fleet } = plan;
  const shares: WakeUp[][] = Array.from({ length: queues }, () => []);
  let room = Math.max(0, queues * QUEUE_CONSUMERS - expected);
  let at = from;
  for (const nudge of nudges) {
    const messages = Math.min(room, nudge.count);
    room -= messages;
    for (let sent = 0; sent < messages; sent++, at++) shares[at % queues]?.push(wakeUp(nudge));
  }
  if (fleet >= 2 * queues) return shares;
  return shares.map((share, index) => {
    const [first, ...others] = share;
    return index === from % queues || first === undefined || others.length === 0 ? share : [{ ...first, again_ms: LOOK_AGAIN_MS }, ...others];
  });
}
