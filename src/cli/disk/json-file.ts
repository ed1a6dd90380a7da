import { readFileSync } from "node:fs";
import { systemCode } from "../terminal/cli-error.ts";

/**
 * A small file of ours that holds one JSON object; null where it is not there, or holds anything else: a crash may have cut it, and anybody may
 * have written to it. Fields are for whoever asks to check.
 */
export function readObject(path: string): Readonly<Record<string, unknown>> | null {
  let value: unknown;
  try {
    value = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    const code = systemCode(error);
    if (code === "ENOENT" || code === "ENOTDIR" || error instanceof SyntaxError) return null;
    throw error;
  }
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
}
