import { EdgewiseError, failureOf, type Failure } from "../errors/result.ts";

const HINT = "What is left of its rows is in the results folder of whoever followed it: make a new run of that.";

/** What a run has stored and can never be read again, as the failure that ends it; null for what may pass. */
export const damageOf = (thrown: unknown): Failure | null =>
  thrown instanceof EdgewiseError && thrown.code === "storage_damaged" ? { hint: HINT, ...failureOf(thrown) } : null;
