import type { FieldShape } from "./field-shape.ts";
import type { Given } from "./given.ts";

/** A field of a form, and what is in it. */
export interface FieldProps {
  readonly label: string;
  readonly shape: FieldShape;
  readonly help: string;
  /** What holds where nothing is given, in words; "" = nobody says. */
  readonly usual: string;
  readonly required: boolean;
  readonly given: Given | null;
  readonly problem: string | null;
  /** What it was before it was changed, in words; null = it is as it was. */
  readonly was: string | null;
  /** Offered while somebody types. */
  readonly suggestions?: readonly string[];
  /** Whether it may be written as JSON in spite of its shape, which foreign code made. */
  readonly takesJson: boolean;
  readonly onFocus?: () => void;
  readonly change: (given: Given | null) => void;
}
