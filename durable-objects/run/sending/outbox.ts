import type { RunReport } from "../../monitor/monitor-control.ts";
import type { Occurrence } from "../../../src/alerts/occurrence.ts";
import type { RunContext } from "../state/context.ts";
import type { RunHead } from "../state/head.ts";
import { takeAlerts } from "./alerts.ts";
import type { Heartbeat } from "./heartbeat.ts";
import { takeHubPush, tellOfDebts } from "./hub-push.ts";
import { retryDelay } from "./wake.ts";

/** What the caller must send once the transaction is stored; a crash before it was sent is made good by the alarm. */
export interface Outbox {
  /** `executors`: how many are to share the lanes, where the run says so; `idle`: nobody works for it. */
  readonly offer: { readonly want: number; readonly executors?: number; readonly idle?: boolean; readonly seq: number } | null;
  /** Version of the projection to send to the Registry. */
  readonly projection: number | null;
  /** For the `heartbeat_url` of the run. */
  readonly heartbeat: Heartbeat | null;
  /** For the monitor of the run; absent = nothing. */
  readonly report?: RunReport;
  /** The push to the Hub is to be asked for. */
  readonly push?: true;
  /** For the alerts of the team; absent = nothing is. */
  readonly alerts?: readonly Occurrence[];
}

/** Takes what is due now, and dates the next try of each, so that the alarm is never left in the past. */
export function takeOutbox(head: RunHead, heartbeat: Heartbeat | null, context: RunContext): Outbox {
  const push = takeHubPush(head, context);
  const alerts = takeAlerts(head, context);
  tellOfDebts(head, context);
  const offerDue = head.offer.due && context.now >= head.offer.retry_at;
  if (offerDue) {
    const tries = head.offer.tries + 1;
    head.offer = { ...head.offer, tries, retry_at: context.now + retryDelay(tries) };
  }
  const projectionDue = head.projection.due && context.now >= head.projection.retry_at;
  if (projectionDue) {
    const tries = head.projection.tries + 1;
    head.projection = { ...head.projection, tries, retry_at: context.now + retryDelay(tries) };
  }
  return {
    offer: offerDue ? offerOf(head) : null,
    projection: projectionDue ? head.projection.version : null,
    heartbeat,
    ...(push ? { push: true as const } : {}),
    ...(alerts.length === 0 ? {} : { alerts }),
  };
}

export const withReport = (outbox: Outbox, report: RunReport | null): Outbox => (report === null ? outbox : { ...outbox, report });

/** The same with what nobody has to be told: the Dispatcher and the Registry take as news only what is. Nothing of it is to be stored. */
export const announced = (head: RunHead, due: Outbox): Outbox => ({
  ...due,
  offer: due.offer ?? (head.offer.want > 0 ? offerOf(head) : null),
  projection: due.projection ?? (head.phase === "settled" ? null : head.projection.version),
});

/** The Dispatcher has the offer with this `seq`; it stays due if a newer one has taken its place meanwhile. */
export function offered(head: RunHead, seq: number): null {
  if (head.offer.seq === seq) head.offer = { ...head.offer, due: false, tries: 0 };
  return null;
}

/** The Registry has the projection of this version. */
export function projected(head: RunHead, version: number): null {
  if (head.projection.version === version) head.projection = { ...head.projection, due: false, tries: 0 };
  return null;
}

function offerOf({ offer: { want, executors, idle, seq } }: RunHead): Outbox["offer"] {
  return { want, ...(executors === undefined ? {} : { executors }), ...(idle === undefined ? {} : { idle }), seq };
}
