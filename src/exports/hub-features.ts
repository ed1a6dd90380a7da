import type { Json } from "../config/plan/run-config.ts";
import { type Column, type ColumnType, fieldsOf, isList } from "./column.ts";

const DTYPES: Readonly<Record<Extract<ColumnType, string>, string>> = { string: "string", int32: "int32", int64: "int64", double: "float64", boolean: "bool" };

/**
 * Columns as Python's `datasets` writes them into its files (`Features.to_dict`). A list is written as a list of one element: the form that all
 * of its versions read, where `List` came with 4.0.
 */
export function hubFeatures(columns: readonly Column[]): { [name: string]: Json } {
  return Object.fromEntries(columns.map(({ name, type }) => [name, featureOf(type)]));
}

function featureOf(type: ColumnType): Json {
  if (typeof type === "string") return { dtype: DTYPES[type], _type: "Value" };
  const fields = hubFeatures(fieldsOf(type) ?? []);
  return isList(type) ? [fields] : fields;
}

/** The entry `huggingface` of a file's metadata, which `datasets` takes the types of columns from. */
export const hubMetadata = (columns: readonly Column[]): string => JSON.stringify({ info: { features: hubFeatures(columns) } });

/** The same as lines of a card's front matter (`dataset_info.features`): formats that carry no types are read by them. `indent`: of the first line. */
export function cardFeatures(columns: readonly Column[], indent: string): string[] {
  return columns.flatMap(({ name, type }) => {
    const first = `${indent}- name: ${JSON.stringify(name)}`;
    if (typeof type === "string") return [first, `${indent}  dtype: ${DTYPES[type]}`];
    return [first, `${indent}  ${isList(type) ? "list" : "struct"}:`, ...cardFeatures(fieldsOf(type) ?? [], `${indent}  `)];
  });
}
