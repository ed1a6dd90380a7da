import { codeChange, coversCode } from "../../../src/config/env-digest.ts";
import type { RunContext } from "../state/context.ts";
import type { WaitingFor } from "../control.ts";
import { logEvent } from "../state/events.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";
import type { JoinRequest } from "../protocol.ts";

/** From here on the run is of another code: its history grows, and grants have their rows marked. Returns what is said of it. */
export function pinCode(ledger: Ledger, head: RunHead, digest: string, context: RunContext): string {
  const before = head.env_digest ?? digest;
  head.env_digests = [...(head.env_digests ?? [before]), digest];
  head.env_digest = digest;
  const text = codeChange(before, digest);
  logEvent(ledger, head, context, "WARNING", text);
  return text;
}

/** An executor of a version that compares no digests gets nothing of a run that is pinned to its code. */
export const mayWork = (head: RunHead, request: JoinRequest): boolean =>
  request.checks_code === true || head.phase === "finalising" || head.env_digest === null || !coversCode(head.env_digest);

/** What the run waits for; null when nothing. */
export function waitingFor({ code_wait, env_digest }: RunHead, context: RunContext): WaitingFor | null {
  if (typeof code_wait?.since !== "number" || env_digest === null) return null;
  return { env_digest, found: code_wait.found, until: code_wait.since + context.timing.code };
}

/** Rollouts by the digest of the code that made them, oldest first; null while there is but one. Rows without a mark are of the first. */
export function rolloutsByCode({ env_digests = [], totals }: RunHead): Readonly<Record<string, number>> | null {
  const marked = totals.marked ?? {};
  const all = [...new Set([...env_digests, ...Object.keys(marked)])];
  const [first] = all;
  if (first === undefined || all.length < 2) return null;
  const rest = totals.rollouts - Object.values(marked).reduce((sum, count) => sum + count, 0);
  return Object.fromEntries(all.map((digest) => [digest, (marked[digest] ?? 0) + (digest === first ? rest : 0)]));
}
