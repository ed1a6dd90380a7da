import { isPassing } from "../../errors/passing.ts";
import { EdgewiseError, failureOf } from "../../errors/result.ts";
import type { FailRequest } from "../../../durable-objects/run/protocol.ts";

/**
 * What a failed preparation is for the run. A `RangeError` is the rows' own (a stack, a text or a list that they are too much for). Storage or an
 * object that did not answer may do so in a while, as may a data set's server that was busy.
 */
export function failureOfPreparation(thrown: unknown): Pick<FailRequest, "failure" | "passing"> {
  if (thrown instanceof RangeError) return { failure: failureOf(thrown, "preparation_failed") };
  const failure = failureOf(thrown);
  if (thrown instanceof EdgewiseError) return { failure, ...(isPassing(thrown) ? { passing: true } : {}) };
  return { failure: { ...failure, code: "storage_unavailable" }, passing: true };
}
