import type { JsonObject } from "../../config/plan/run-config.ts";
import type { RolloutFailure } from "../types.ts";

/** Text as Python's `repr` quotes it: readers of these files know that form. */
function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return quote + (quote === "'" ? escaped.replaceAll("'", "\\'") : escaped) + quote;
}

const chainNames = ({ chain }: RolloutFailure): string => chain.map(({ name }) => name).join(" -> ");
const chainReprs = ({ chain }: RolloutFailure): string => chain.map(({ name, message }) => `${name}(${message === "" ? "" : quoted(message)})`).join(" -> ");

/** The `error` of a row: verifiers' three texts, and our code, last. */
export function rowError(error: RolloutFailure): JsonObject {
  return { error: error.chain[0]?.name ?? "Error", error_chain_repr: chainReprs(error), error_chain_str: chainNames(error), code: error.code };
}

/** The texts that a row with an error has beside its scores. */
export function rowChains(error: RolloutFailure | null): JsonObject {
  return error === null ? {} : { error_chain: chainReprs(error), long_error_chain: chainNames(error) };
}
