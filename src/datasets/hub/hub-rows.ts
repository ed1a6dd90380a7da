import { z } from "zod";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { DatasetHost } from "../host.ts";
import { hubJson } from "./hub-request.ts";
import type { HubSplit } from "./hub-split.ts";

/** Most rows the viewer gives at once. */
const PAGE = 100;

const rowsAnswer = z.object({
  rows: z.array(z.object({ row_idx: z.int(), row: z.record(z.string(), z.json()), truncated_cells: z.array(z.string()).default([]) })),
  num_rows_total: z.int(),
});

/**
 * Rows as the viewer pages them. A row with shortened cells is refused: it looks whole and is not. Throws `dataset_unreadable`.
 */
export async function* viewerRows(host: DatasetHost, id: string, { config, split }: HubSplit): AsyncGenerator<JsonObject> {
  for (let offset = 0; ; ) {
    const query = new URLSearchParams({ dataset: id, config, split, offset: String(offset), length: String(PAGE) });
    const page = await hubJson(host, `${host.hub.viewer}/rows?${query}`, rowsAnswer, id);
    if (!page.ok) throw page.refusal;
    for (const { row_idx, row, truncated_cells } of page.value.rows) {
      if (truncated_cells.length > 0) throw truncated(id, row_idx, truncated_cells);
      yield row;
    }
    offset += page.value.rows.length;
    if (page.value.rows.length === 0 || offset >= page.value.num_rows_total) return;
  }
}

const truncated = (id: string, row: number, cells: readonly string[]): EdgewiseError =>
  new EdgewiseError("dataset_unreadable", `Row ${row} of ${id}: the Hub shortened its ${cells.join(", ")}, so it cannot be used.`, {
    hint: "Name a dataset_revision to read the repository's own files, or download the data and give its path.",
  });
