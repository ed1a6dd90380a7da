/**
 * Digests of environments as runs, grants, rows and metadata carry them: `v2:` and the hex sha256 over code, arguments and options
 * (environments/load.ts makes them). The kind before, bare hex, was made of id, version and arguments, and says nothing of the code.
 */
const KIND = "v2:";
const COVERS_CODE = /^v2:[0-9a-f]{64}$/;

/** A digest of the present kind. */
export const envDigestOf = (sha256: string): string => `${KIND}${sha256}`;

/** Whether two equal ones mean equal code. */
export const coversCode = (digest: string): boolean => COVERS_CODE.test(digest);

/** Enough of one for a person. */
export const shortDigest = (digest: string): string => `${digest.slice(0, digest.startsWith(KIND) ? 15 : 12)}…`;

/** What of the code of a run and of whoever is to go on with it decides whether it may. Null: nothing is pinned, or nothing offered. */
export interface CodeChoice {
  readonly pinned: string | null;
  readonly offered: string | null;
  /** `--accept-code-change`. */
  readonly accepted: boolean;
  /** Whether rollouts will be generated, so that rows of both codes would stand side by side; scoring rows again mixes nothing. */
  readonly generates: boolean;
}

/** `same`: nothing changes; `changed`: the run goes on with the code that is offered, marked from then on. */
export type CodeVerdict = "same" | "changed" | "refused";

/** A run is of one code. One whose digest does not cover its code is gone on with once, since nobody can know better. */
export function codeVerdict({ pinned, offered, accepted, generates }: CodeChoice): CodeVerdict {
  if (pinned === null || offered === null || pinned === offered) return "same";
  return accepted || !generates || !coversCode(pinned) ? "changed" : "refused";
}

/** Why a resume is refused, in words. */
export const codeRefusal = (envId: string, pinned: string, offered: string): { readonly message: string; readonly hint: string } => ({
  message: `env_digest: the run was made with ${shortDigest(pinned)}, the code of environment ${envId} is now ${shortDigest(offered)}: rewards of both do not belong together.`,
  hint: "Bring the code back as it was, or start a new run; or go on with --accept-code-change (accept_code_change over HTTP): new rows are marked, metadata and report say so.",
});

/** What a person may do about a run that waits for its code; a stopped run can be resumed. */
export const TO_GO_ON = "bring that code back, or stop the run and resume it with --accept-code-change";

/** What is said of a run that goes on with other code. */
export const codeChange = (pinned: string, offered: string): string =>
  coversCode(pinned)
    ? `The code of the environment changed from ${shortDigest(pinned)} to ${shortDigest(offered)}; each new row names the code that made it.`
    : `This run is from a version that kept no digest of its environment's code (${shortDigest(pinned)}); it goes on with ${shortDigest(offered)}, and each new row names the code that made it.`;
