/** What a receiver's answer says of a message. */

/** Characters of its body that are kept. */
export const BODY_CHARS = 300;

export interface Attempt {
  /** When it was sent, in Unix milliseconds. */
  readonly at: number;
  /** How long the answer took, in milliseconds. */
  readonly ms: number;
  /** Of HTTP; null: there was none. */
  readonly status: number | null;
  /** Why it counts as not taken; null: it was taken. Names of the address nothing but its origin. */
  readonly problem: string | null;
  /** Beginning of the answer's body, without what is secret. */
  readonly body: string;
  /** What the receiver asked for by `Retry-After`, in milliseconds. */
  readonly asked_ms: number | null;
}

/** `gone`: the receiver wants no more of them, ever (410). */
export type Verdict = "taken" | "again" | "gone";

export const verdictOf = ({ status, problem }: Pick<Attempt, "status" | "problem">): Verdict =>
  problem === null ? "taken" : status === 410 ? "gone" : "again";

/** Why an answer with this status is no acceptance; null when it is one. */
export function statusProblem(status: number): string | null {
  if (status >= 200 && status < 300) return null;
  return `answered with status ${status}${status >= 300 && status < 400 ? "; redirects are not followed" : ""}`;
}

/** Milliseconds of a `Retry-After` in seconds or as a date; null where there is none that can be read. */
export function askedWait(header: string | null, now: number): number | null {
  if (header === null) return null;
  const ms = /^\d{1,9}$/.test(header.trim()) ? Number(header) * 1_000 : Date.parse(header) - now;
  return Number.isFinite(ms) ? Math.max(0, ms) : null;
}
