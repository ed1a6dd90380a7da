import { EdgewiseError, type Failure, failureOf } from "../../errors/result.ts";

/**
 * What ends the run: what is wrong with it itself. A `RangeError` is the rows' as well (a stack, a text or a list that they are too much
 * for); storage or an object that did not answer is neither, and null: it is asked again by the next attempt.
 */
export function failureOfPreparation(thrown: unknown): Failure | null {
  if (thrown instanceof RangeError) return failureOf(thrown, "preparation_failed");
  return thrown instanceof EdgewiseError && thrown.code !== "storage_unavailable" ? failureOf(thrown) : null;
}
