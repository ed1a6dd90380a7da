import { z } from "zod";
import { EXPORT_FORMATS } from "../../exports/formats.ts";

export const exportQuery = z.strictObject({ format: z.enum(EXPORT_FORMATS).default("parquet") });

/** Parquet is made once, by a task: `making` until all files are there. */
export const exportAnswer = z.strictObject({
  status: z.enum(["making", "done"]),
  run_id: z.string(),
  /** In the files so far. */
  rows: z.int(),
  /** The card first; empty until all are there. */
  files: z.array(z.strictObject({ path: z.string(), bytes: z.int(), url: z.string() })),
});
