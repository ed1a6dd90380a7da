import type { Column } from "./column.ts";
import { ParquetEncoder } from "./parquet-encoder.ts";
import type { RowEncoder } from "./row-encoder.ts";
import { csvEncoder, jsonlEncoder } from "./text-encoder.ts";

export const EXPORT_FORMATS = ["parquet", "csv", "jsonl"] as const;
export type ExportFormat = (typeof EXPORT_FORMATS)[number];

/** Media types of files. */
export const EXPORT_TYPES: Readonly<Record<ExportFormat, string>> = {
  parquet: "application/vnd.apache.parquet",
  csv: "text/csv; charset=utf-8",
  jsonl: "application/x-ndjson",
};

/** The encoder of one file. */
export function encoderOf(format: ExportFormat, columns: readonly Column[], metadata: Readonly<Record<string, string>> = {}): RowEncoder {
  if (format === "parquet") return new ParquetEncoder(columns, metadata);
  return format === "csv" ? csvEncoder(columns) : jsonlEncoder(columns);
}
