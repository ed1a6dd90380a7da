import { isInfrastructureError, isSpendingError, ROLLOUT_ERRORS, type RolloutErrorCode } from "../errors/codes.ts";
import { mask } from "../errors/masking.ts";
import { ownFrame, throwingFunction } from "../errors/own-frames.ts";
import { EdgewiseError } from "../errors/result.ts";
import { RolloutError } from "../errors/rollout-errors.ts";
import { fileProblem } from "./file-access.ts";
import type { RolloutFailure } from "./types.ts";

/** Causes followed, and characters kept of each message: provider texts and stacks of causes have no bound of their own. */
const MAX_CHAIN = 6;
const MAX_MESSAGE = 1_000;

/** Masked before it is cut: half a key would be known to no one. */
function cut(text: string, characters = MAX_MESSAGE): string {
  const clean = mask(text);
  return clean.length > characters ? `${clean.slice(0, characters)}…` : clean;
}

function causeOf(thrown: unknown): unknown {
  try {
    return (thrown as { cause?: unknown }).cause;
  } catch {
    return undefined;
  }
}

/** With where it happened, which is kept however long the text is. */
const placed = (text: string, place: string | null): string => (place === null ? text : `${cut(text, MAX_MESSAGE - place.length - 4)} (${place})`);

/** Name of an error class as the row shows it. Set by `name` rather than the constructor, whose name a bundler may change. */
const nameOf = (thrown: unknown): string => textOr(typeof thrown, () => (thrown instanceof Error && thrown.name !== "" ? thrown.name : typeof thrown));
const messageOf = (thrown: unknown): string => cut(textOr("(no message)", () => (thrown instanceof Error ? thrown.message : String(thrown))));

/** What environment code throws may throw again where it is read. */
function textOr(otherwise: string, read: () => unknown): string {
  try {
    return String(read());
  } catch {
    return otherwise;
  }
}

/** A failure with the class name that verifiers' readers know for `code`, or `name`, followed by the chain of causes. */
export function rolloutFailure(code: RolloutErrorCode, message: string, cause?: unknown, name: string = ROLLOUT_ERRORS[code].name): RolloutFailure {
  const chain = [{ name, message: cut(message) }];
  for (let next = cause; next !== undefined && next !== null && chain.length < MAX_CHAIN; next = causeOf(next)) {
    chain.push({ name: nameOf(next), message: messageOf(next) });
  }
  return { code, message: cut(message), chain };
}

export const isRolloutErrorCode = (code: unknown): code is RolloutErrorCode => typeof code === "string" && Object.hasOwn(ROLLOUT_ERRORS, code);

/** Where environment code threw: a place in its sources, or of code of which nobody knows them the function. */
const placeOf = (thrown: unknown): string | null => {
  const frame = ownFrame(thrown);
  if (frame !== null) return frame;
  const name = throwingFunction(thrown);
  return name === null ? null : `in ${name}`;
};

/** A call that nobody may pay for now, whatever was made of that on the way: it is no fault of who made the call. */
function unpaidIn(thrown: unknown): EdgewiseError | null {
  let cause = thrown;
  for (let causes = 0; cause !== undefined && cause !== null && causes < MAX_CHAIN; causes++) {
    if (cause instanceof EdgewiseError && isSpendingError(cause.code)) return cause;
    cause = causeOf(cause);
  }
  return null;
}

/**
 * What a thrown value means for the rollout it happened in. An `EdgewiseError` with a rollout code says so itself, one of money also as the cause of another; anything
 * else is a fault of `otherwise`'s owner (the environment's code, a reward function) and becomes the cause.
 */
export function failureOfRollout(raised: unknown, otherwise: "environment_error" | "scorer_error" = "environment_error"): RolloutFailure {
  const thrown = unpaidIn(raised) ?? raised;
  if (thrown instanceof EdgewiseError && isRolloutErrorCode(thrown.code)) {
    const name = thrown instanceof RolloutError ? thrown.name : undefined;
    const message = isInfrastructureError(thrown.code) ? thrown.message : placed(thrown.message, ownFrame(thrown));
    return { ...rolloutFailure(thrown.code, message, thrown.cause, name), ...(thrown.hint === undefined ? {} : { hint: thrown.hint }) };
  }
  const hint = fileProblem(thrown);
  const message = hint === null ? messageOf(thrown) : `${messageOf(thrown)} (${hint})`;
  // A reward function is named by its failure.
  return rolloutFailure(otherwise, placed(message, otherwise === "scorer_error" ? ownFrame(thrown) : placeOf(thrown)), thrown);
}

/** A cause with the class name Python's SDK would show, so that rows of both libraries group alike. */
export function namedCause(name: string, message: string): Error {
  return Object.assign(new Error(message), { name });
}
