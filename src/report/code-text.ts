/** How the code of a run is worded for people. */
import { shortDigest, TO_GO_ON } from "../config/env-digest.ts";
import { thousands } from "./format.ts";

/** Rollouts by the digest of the code that made them; null where all are of one. */
export function codesText(env_digests: Readonly<Record<string, number>> | undefined): string | null {
  const entries = Object.entries(env_digests ?? {}).filter(([, rollouts]) => rollouts > 0);
  if (entries.length < 2) return null;
  return `${entries.length} versions of the environment: ${entries.map(([digest, rollouts]) => `${shortDigest(digest)} ${thousands(rollouts)} rollouts`).join(", ")}`;
}

/** `until`: Unix milliseconds; `time` words them. */
export function codeWaitText(
  { env_digest, found, until }: { readonly env_digest: string; readonly found: string | null; readonly until: number },
  time: (unixMs: number) => string,
): string {
  const other = found === null ? "who asked has no such environment" : `who asked has ${shortDigest(found)}`;
  return `waiting until ${time(until)} for an executor with the code of this run, ${shortDigest(env_digest)} (${other}); ${TO_GO_ON}`;
}
