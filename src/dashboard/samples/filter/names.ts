import { metricColumn, STANDARD_COLUMNS } from "../../../cells/column-names.ts";
import type { FieldName } from "./filter.ts";

/** What is known of a run that a filter is for. */
export interface RunNames {
  readonly metrics: readonly string[];
  /** Codes that errors of rollouts have; the first stands for none. */
  readonly errorCodes: readonly (string | null)[];
}

/** What a name in a filter stands for. `number`: a column of the table. `example`: what the data set calls it. */
export type Field =
  | { readonly kind: "number"; readonly column: string }
  | { readonly kind: "error" | "truncated" | "example" }
  /** Of the row, as the service names it: it alone has the texts. */
  | { readonly kind: "text"; readonly field: string };

/** Input and output together; a column of the table as others are. */
export const TOKENS = "tokens";
/** Number of the attempt, from 0. */
export const ROLLOUT = "rollout";

/** Texts of a row that have a name here; others are under `info.`. */
export const TEXT_FIELDS: readonly string[] = ["prompt", "completion", "answer", "stop_condition"];
/** Names that filters have beside metrics, in the order in which they are offered. */
export const FIXED_NAMES: readonly string[] = [
  ...new Set(["reward", "error", ...TEXT_FIELDS.slice(0, 3), "example", ROLLOUT, TOKENS, ...STANDARD_COLUMNS, ...TEXT_FIELDS]),
];

/** Null where there is no such thing. */
export function fieldOf({ group, name }: FieldName, { metrics }: RunNames): Field | null {
  if (group === "info") return { kind: "text", field: `info.${name}` };
  if (group === "" && TEXT_FIELDS.includes(name)) return { kind: "text", field: name };
  if (group === "" && FIXED_NAMES.includes(name)) {
    return name === "error" || name === "truncated" || name === "example" ? { kind: name } : { kind: "number", column: name };
  }
  return metrics.includes(name) ? { kind: "number", column: metricColumn(name) } : null;
}

/** A metric as filters name it: as it is called, unless something else is called so. */
export const metricName = (metric: string): FieldName => ({ group: FIXED_NAMES.includes(metric) ? "m" : "", name: metric });
