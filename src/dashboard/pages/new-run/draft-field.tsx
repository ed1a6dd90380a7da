import { printableJson } from "../../../report/text/printable.ts";
import { Field } from "../../design/field/field.tsx";
import { type Given, valueIn, withValue } from "../../design/field/given.ts";
import { choiceText } from "../../design/field/given.ts";
import type { Changes } from "./changes.ts";
import type { Draft, Group } from "./draft.ts";
import type { FormField } from "./form-options.ts";
import type { Problems } from "./settings.ts";

/** What all parts of the form are drawn from. */
export interface DraftProps {
  readonly draft: Draft;
  readonly change: (next: Draft) => void;
  readonly problems: Problems;
  readonly changes: Changes;
}

interface DraftFieldProps extends DraftProps {
  readonly group: Group;
  readonly field: FormField;
  /** In the place of the field's own default, where the environment has another. */
  readonly usual?: string;
  readonly suggestions?: readonly string[];
}

/** One field of a draft. */
export function DraftField({ draft, change, problems, changes, group, field, usual, suggestions }: DraftFieldProps) {
  const { name, label, shape, help, required } = field;
  const set = (given: Given | null): void => change({ ...draft, [group]: withValue(draft[group], name, given) });
  return (
    <Field
      {...{ label, shape, help, required, change: set }}
      given={valueIn(draft[group], name)}
      usual={usual ?? usualText(field)}
      takesJson={group !== "options"}
      problem={problems.get(`${group}.${name}`) ?? null}
      was={changes.get(`${group}.${name}`) ?? null}
      {...(suggestions === undefined ? {} : { suggestions })}
    />
  );
}

function usualText({ default: usual, shape }: FormField): string {
  if (usual === undefined || usual === null) return "";
  if (typeof usual === "object" && Object.keys(usual).length === 0) return "";
  if (shape.kind === "choice") return choiceText(usual);
  if (shape.kind === "boolean") return usual === true ? "yes" : "no";
  return typeof usual === "string" ? usual : printableJson(usual);
}
