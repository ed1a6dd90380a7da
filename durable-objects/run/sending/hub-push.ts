import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { Failure } from "../../../src/errors/result.ts";
import type { HubPushOutcome } from "../control.ts";
import { alertsAreLate } from "../state/alert-debt.ts";
import type { RunContext } from "../state/context.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

/** An attempt may take a quarter of an hour; one that nobody tells of is made again. */
const FIRST_WAIT_MS = 5 * 60_000;
const MAX_WAIT_MS = 3_600_000;
/** In all some four hours. */
const MAX_TRIES = 9;

/** A run that has completed is pushed where it was asked for. */
export function wantHubPush(head: RunHead, { hub_push }: RunConfig, context: RunContext): void {
  delete head.hub_push;
  if (hub_push !== undefined && head.status === "COMPLETED") head.hub_push = { due: true, tries: 0, retry_at: context.now };
}

/** One that failed is asked for anew; says whether there is such a one. */
export function wantHubPushAgain(ledger: Ledger, head: RunHead, context: RunContext): boolean {
  if (head.hub_push === undefined || head.hub_push.due || head.hub_push.url !== undefined) return false;
  wantHubPush(head, ledger.config(), context);
  logEvent(ledger, head, context, "INFO", "The push to the Hugging Face Hub is tried again");
  return true;
}

/** When it is to be asked for; null = not at all. */
export const hubPushDue = ({ phase, hub_push }: RunHead): number | null => (phase === "settled" && hub_push?.due === true ? hub_push.retry_at : null);

/** Whether it is to be asked for now; dates the next time. */
export function takeHubPush(head: RunHead, context: RunContext): boolean {
  const due = hubPushDue(head);
  if (due === null || head.hub_push === undefined || context.now < due) return false;
  const { tries, failure } = head.hub_push;
  if (tries >= MAX_TRIES) {
    const lost: Failure = { code: "hub_unreachable", message: "The push was tried for hours, and nobody could say what came of it." };
    head.hub_push = { ...head.hub_push, due: false, failure: failure ?? lost };
    return false;
  }
  head.hub_push = { ...head.hub_push, tries: tries + 1, retry_at: context.now + Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** tries) };
  return true;
}

/** The Registry is told whether it is owed, or alerts are that could not be told at once, for the watchdog to look after. */
export function tellOfDebts(head: RunHead, context: RunContext): void {
  const owed = hubPushDue(head) !== null || alertsAreLate(head);
  const { version, owed: told = false } = head.projection;
  if (owed !== told) head.projection = { ...head.projection, version: version + 1, due: true, retry_at: context.now, tries: 0, owed };
}

/** What came of it, told by whoever tried; of a generation that is gone nothing counts. */
export function hubPushed(ledger: Ledger, head: RunHead, outcome: HubPushOutcome, context: RunContext): null {
  const { hub_push: push } = head;
  if (push === undefined || !push.due || head.phase !== "settled" || head.generation !== outcome.generation) return null;
  if (outcome.kind === "pushed") {
    const { failure: _, ...rest } = push;
    head.hub_push = { ...rest, due: false, url: outcome.url, commit: outcome.commit };
    logEvent(ledger, head, context, "INFO", `Pushed to ${outcome.url}${outcome.commit === null ? "; all of it was there already" : ""}`);
    return null;
  }
  const { failure, passing } = outcome;
  head.hub_push = { ...push, failure, due: passing };
  // The first attempt is told, and the last.
  if (!passing || push.failure === undefined)
    logEvent(ledger, head, context, "WARNING", `Not pushed to the Hugging Face Hub${passing ? " yet" : ""}: ${failure.message}`);
  return null;
}
