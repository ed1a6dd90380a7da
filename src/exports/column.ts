/** What a value of a column is. A struct's fields, and everything else, may be null. */
export type ColumnType = "string" | "int32" | "int64" | "double" | "boolean" | { readonly list: readonly Column[] } | { readonly struct: readonly Column[] };

export interface Column {
  readonly name: string;
  readonly type: ColumnType;
}

/** A value as its column has it: texts, numbers, booleans, objects of a struct's fields, lists of such objects. */
export type CellValue = string | number | boolean | null | Cells | readonly Cells[];

/** One row, or one struct, by the names of its columns; what is absent is null. */
export interface Cells {
  readonly [column: string]: CellValue | undefined;
}

export const isList = (type: ColumnType): type is { readonly list: readonly Column[] } => typeof type === "object" && "list" in type;

/** Fields of a struct, and of what a list holds; null for everything else. */
export function fieldsOf(type: ColumnType): readonly Column[] | null {
  if (typeof type === "string") return null;
  return isList(type) ? type.list : type.struct;
}
