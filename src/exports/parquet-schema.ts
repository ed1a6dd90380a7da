import type { SchemaElement } from "hyparquet";
import { type Column, type ColumnType, fieldsOf, isList } from "./column.ts";

const SCALARS: Readonly<Record<Extract<ColumnType, string>, Pick<SchemaElement, "type" | "converted_type">>> = {
  string: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  int32: { type: "INT32" },
  int64: { type: "INT64" },
  double: { type: "DOUBLE" },
  boolean: { type: "BOOLEAN" },
};

/** Parquet's own description of columns, depth first; lists in the form of three levels that the format asks for (LogicalTypes.md, "Lists"). */
export const parquetSchema = (columns: readonly Column[]): SchemaElement[] => [
  { name: "schema", num_children: columns.length },
  ...columns.flatMap(elementsOf),
];

function elementsOf({ name, type }: Column): SchemaElement[] {
  const optional = { name, repetition_type: "OPTIONAL" } as const;
  const fields = fieldsOf(type);
  if (typeof type === "string" || fields === null) return [{ ...optional, ...SCALARS[type as Extract<ColumnType, string>] }];
  const below = fields.flatMap(elementsOf);
  if (!isList(type)) return [{ ...optional, num_children: fields.length }, ...below];
  return [
    { ...optional, converted_type: "LIST", num_children: 1 },
    { name: "list", repetition_type: "REPEATED", num_children: 1 },
    { name: "element", repetition_type: "OPTIONAL", num_children: fields.length },
    ...below,
  ];
}
