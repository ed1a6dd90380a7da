import { mix } from "../../../mix.ts";

export type NumberOperation = "addition" | "subtraction" | "multiplication";
export type TextOperation = "reverse" | "sort";
export type Operation = NumberOperation | TextOperation;

/** What is asked, whatever its wording. */
export type Problem =
  | { readonly operation: NumberOperation; readonly a: number; readonly b: number }
  | { readonly operation: TextOperation; readonly letters: string };

const HELD_OUT_SHARE = 10;

/** Whether the order of the numbers makes no difference, so that `7 times 8` is the same problem as `8 times 7`. */
export const isCommutative = (operation: Operation): boolean => operation === "addition" || operation === "multiplication";

/** One spelling per problem: `addition:3:45` (the smaller number first where order makes no difference), `sort:bca`. */
export function canonicalProblem(problem: Problem): string {
  if ("letters" in problem) return `${problem.operation}:${problem.letters}`;
  const { operation, a, b } = problem;
  return isCommutative(operation) && a > b ? `${operation}:${b}:${a}` : `${operation}:${a}:${b}`;
}

/**
 * Whether a problem is kept from the embedded model's training: one in ten, by the FNV-1a hash of its canonical spelling, mixed.
 * `tools/embedded-model/problems.py` holds the same rule for the training script, which refuses these problems.
 */
export function isHeldOut(problem: Problem): boolean {
  let hash = 0x811c9dc5;
  for (const byte of new TextEncoder().encode(canonicalProblem(problem))) hash = Math.imul(hash ^ byte, 0x01000193);
  return mix(hash) % HELD_OUT_SHARE === 0;
}
