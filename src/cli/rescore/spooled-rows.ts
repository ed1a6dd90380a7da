/** The rows of a folder or an export in a file of this command's own: in the form in which they are sent, whatever they were read from. */
import { once } from "node:events";
import { createWriteStream, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MAX_ROLLOUTS_PER_EXAMPLE } from "../../config/options/options.ts";
import { objectText, type RawField, rawFields } from "../../rollouts/rows/raw-fields.ts";
import type { OpenedRow, OpenedRun } from "../exports/opened-run.ts";
import { indexRows, type RowIndex } from "../results/row-index.ts";

export interface SpooledRows {
  readonly index: RowIndex;
  /** Rows of the example that has most. */
  readonly attempts: number;
  remove(): void;
}

/** Holds one row. Throws a usage error for rows that name no example or attempt. */
export async function spoolRows({ rows, facts }: OpenedRun): Promise<SpooledRows> {
  const folder = mkdtempSync(join(tmpdir(), "edgewise-rescore-"));
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  try {
    const path = join(folder, "results.jsonl");
    const file = createWriteStream(path);
    for await (const row of rows()) if (!file.write(`${scorable(row)}\n`)) await once(file, "drain");
    file.end();
    await once(file, "close");
    const index = await indexRows(path, facts.rollouts_per_example ?? MAX_ROLLOUTS_PER_EXAMPLE, false);
    const counts = new Map<number, number>();
    for (const id of index.example) counts.set(id, (counts.get(id) ?? 0) + 1);
    // None is to come first: the rows are wanted in the order of their examples.
    return { index: { ...index, failed: index.failed.map(() => false) }, attempts: Math.max(1, ...counts.values()), remove };
  } catch (error) {
    remove();
    throw error;
  }
}

/** The line with `info` as the object that scorers read, where it stands as JSON text: so it does in exports, and in some rows of Python's. */
function scorable({ value: { info }, text }: OpenedRow): string {
  if (typeof info !== "string") return text;
  try {
    const object: unknown = JSON.parse(info);
    if (typeof object !== "object" || object === null || Array.isArray(object)) return text;
  } catch {
    // Text that is no JSON stays text.
    return text;
  }
  return objectText(
    rawFields(text).map(([name, own]): RawField => [name, name === "info" ? info : own]),
    text,
  );
}
