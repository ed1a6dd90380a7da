import type { z } from "zod";
import { OverlongPromptError } from "../clients/overlong-prompt-error.ts";
import { isErrorCode } from "../errors/codes.ts";
import { knowPlace, ownFrame } from "../errors/own-frames.ts";
import { isPassing } from "../errors/passing.ts";
import { EdgewiseError } from "../errors/result.ts";
import { RolloutError } from "../errors/rollout-errors.ts";
import { isRolloutErrorCode } from "../rollouts/failure.ts";
import type { crossedError } from "./values.ts";

export type CrossedError = z.infer<typeof crossedError>;

/** Causes and characters of a text that cross: rows show no more. */
const MAX_CAUSES = 6;
const MAX_TEXT = 4_000;

const cut = (text: string): string => (text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}…` : text);

/** What code throws may throw again where it is read. */
function read(otherwise: string, of: () => unknown): string {
  try {
    const value = of();
    return typeof value === "string" ? cut(value) : otherwise;
  } catch {
    return otherwise;
  }
}

const partsOf = (thrown: unknown): { name: string; message: string } => ({
  name: read(typeof thrown, () => (thrown instanceof Error && thrown.name !== "" ? thrown.name : typeof thrown)),
  message: read("(no message)", () => (thrown instanceof Error ? thrown.message : String(thrown))),
});

function causesOf(thrown: unknown): { name: string; message: string }[] {
  const causes: { name: string; message: string }[] = [];
  try {
    for (let next = (thrown as { cause?: unknown } | null)?.cause; next !== undefined && next !== null && causes.length < MAX_CAUSES; ) {
      causes.push(partsOf(next));
      next = (next as { cause?: unknown }).cause;
    }
  } catch {
    // A cause that cannot be read ends the chain.
  }
  return causes;
}

/** What was thrown, as it crosses. */
export function crossing(thrown: unknown): CrossedError {
  const known = thrown instanceof EdgewiseError ? thrown : null;
  const place = ownFrame(thrown);
  return {
    ...partsOf(thrown),
    code: known?.code ?? null,
    ...(known?.hint === undefined ? {} : { hint: cut(known.hint) }),
    ...(known?.retry_after_s === undefined ? {} : { retry_after_s: known.retry_after_s }),
    ...(isPassing(thrown) ? { passing: true } : {}),
    ...(thrown instanceof OverlongPromptError ? { overlong: true } : {}),
    ...(place === null ? {} : { place }),
    causes: causesOf(thrown),
  };
}

/** An error of the other side whose class had a name that rows show. */
class CrossedRolloutError extends RolloutError {
  override readonly name: string;

  constructor(name: string, ...rest: ConstructorParameters<typeof RolloutError>) {
    super(...rest);
    this.name = name;
  }
}

/** The error again, for this side to throw: its row is the same as where it was thrown. */
export function thrownOf(crossed: CrossedError): Error {
  const error = errorOf(crossed);
  if (crossed.place !== undefined) knowPlace(error, crossed.place);
  return error;
}

function errorOf({ name, message, code, hint, retry_after_s, passing, overlong, causes }: CrossedError): Error {
  const cause = causes.reduceRight<Error | undefined>((below, each) => withoutStack(named(new Error(each.message, { cause: below }), each.name)), undefined);
  const options = { cause, ...(hint === undefined ? {} : { hint }), ...(retry_after_s === undefined ? {} : { retry_after_s }), passing: passing === true };
  if (overlong === true) return withoutStack(new OverlongPromptError(message, { cause }));
  if (code === null || !isErrorCode(code)) return withoutStack(named(new Error(message, { cause }), name));
  if (name !== "EdgewiseError" && isRolloutErrorCode(code)) return withoutStack(new CrossedRolloutError(name, code, message, options));
  return withoutStack(new EdgewiseError(code, message, options));
}

const named = (error: Error, name: string): Error => Object.defineProperty(error, "name", { value: name, configurable: true, writable: true });

/** Where it was thrown is a place of the other side. */
function withoutStack<E extends Error>(error: E): E {
  error.stack = `${error.name}: ${error.message}`;
  return error;
}
