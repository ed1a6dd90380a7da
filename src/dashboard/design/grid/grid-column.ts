/** A column of a grid; apart from what is drawn, so that rules are tested without a browser. */
export interface GridColumn {
  readonly key: string;
  readonly title: string;
  /** Pixels at least; `grows`: takes what is left over. */
  readonly width: number;
  readonly grows?: true;
  readonly align?: "end";
  /** Whether rows can be put in its order. */
  readonly sorts: boolean;
}
