import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Row } from "./row.ts";

/** What tells one set of tools from another. */
export const toolNames = (tools: readonly JsonObject[] | null | undefined): string =>
  (tools ?? [])
    .map(({ name }) => String(name))
    .sort()
    .join("\n");

/** The tools that all rows have, told by their names; null when they differ. Rows without tools have a set of their own. */
export function sharedTools(rows: readonly Row[]): JsonObject[] | null {
  let shared: JsonObject[] | null = null;
  for (const row of rows) {
    const tools = Array.isArray(row.tool_defs) ? (row.tool_defs as JsonObject[]) : [];
    if (shared !== null && toolNames(shared) !== toolNames(tools)) return null;
    shared ??= tools;
  }
  return shared === null || shared.length === 0 ? null : shared;
}
