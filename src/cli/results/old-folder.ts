/** Results folders of versions of the Python library whose rows cannot be gone on with. */
import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { readForeignRow } from "../../rollouts/rows/foreign-row.ts";

/** Of the first row, as much as is read: its fields are told from whole rows only. */
const FIRST_BYTES = 4 * 1024 * 1024;

/**
 * How old a folder is and why that keeps it from being gone on with; null for any other. `metadata`: the content of its `metadata.json`.
 * Rows got `example_id` on 18 October 2025; the `id` before it is not that of the example where there are several attempts.
 */
export function tooOld(path: string, metadata: Readonly<Record<string, unknown>>): string | null {
  const row = firstRow(join(path, "results.jsonl"));
  const reasons = [
    ...(metadata.env_id === undefined && typeof metadata.env === "string" ? ["its metadata calls the environment `env`"] : []),
    ...(row !== null && Object.hasOwn(row, "id") && !Object.hasOwn(row, "example_id") ? ["its rows do not say which example they are of"] : []),
  ];
  return reasons.length === 0 ? null : `the Python library wrote it before 18 October 2025: ${reasons.join(", and ")}`;
}

function firstRow(path: string): Readonly<Record<string, unknown>> | null {
  let file: number | null = null;
  try {
    file = openSync(path, "r");
    const buffer = Buffer.alloc(FIRST_BYTES);
    const text = buffer.toString("utf8", 0, readSync(file, buffer, 0, FIRST_BYTES, 0));
    const line = text.split("\n").find((each) => each.trim() !== "");
    return line === undefined ? null : readForeignRow(line).value;
  } catch {
    // What is wrong with the file is told where its rows are taken over.
    return null;
  } finally {
    if (file !== null) closeSync(file);
  }
}
