import type { RunHead } from "../state/head.ts";
import type { Ledger, Ticket } from "../state/ledger.ts";
import type { Ack, Grant, SandboxRequest } from "../protocol.ts";

/** From now on grants look for what is left over of this driver's sandboxes. */
export function noteSandbox(head: RunHead, ticket: Ticket | null, { driver }: SandboxRequest): Ack {
  if (ticket === null) return { kind: "lost" };
  const known = head.sandboxes ?? [];
  if (!known.includes(driver)) head.sandboxes = [...known, driver];
  return { kind: "ok" };
}

/** What a grant of units, or the one that writes the final files, has to know of sandboxes; nothing where the run had none. */
export function grantedSandboxes(ledger: Ledger, head: RunHead, ticket: Ticket): Pick<Grant, "sandboxes"> {
  const { sandboxes: drivers } = head;
  const { kind } = ticket.task;
  if (drivers === undefined || (kind !== "units" && kind !== "finalise")) return {};
  const live = ledger.tickets().flatMap(({ epoch }) => (epoch === ticket.epoch ? [] : [epoch]));
  // What is written down at the end is gone on with nowhere: a resume finds the sandbox gone, and has the rollout begin anew.
  return { sandboxes: { drivers, live, turns: kind === "units" && holdsTurns(ledger, head) } };
}

const holdsTurns = (ledger: Ledger, { n }: RunHead): boolean =>
  n !== null && ledger.piecesIn({ lo: 0, hi: n }).some(({ begun = [], unscored = [] }) => begun.some((rollout) => !unscored.includes(rollout)));
