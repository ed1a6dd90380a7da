import type { ArgumentFacts, OptionList } from "../../api/answers.ts";
import type { Values } from "../../design/field/given.ts";
import type { FieldName } from "./draft.ts";
import { argumentField, type FormField, type OptionField, optionFields, samplingFields, unknownField } from "./form-options.ts";

/** Every field that a draft may fill in. */
export interface Form {
  /** The environment's own. Null: not known without its code. */
  readonly args: readonly FormField[] | null;
  /** Which data set it reads; none of an environment that takes no such arguments. */
  readonly dataset: readonly FormField[];
  readonly sampling: readonly FormField[];
  readonly options: readonly OptionField[];
}

/** `takesDatasets`: environments of this library do, and of those elsewhere nobody knows. */
export const formOf = (list: OptionList, args: readonly ArgumentFacts[] | null, takesDatasets: boolean): Form => ({
  args: args === null ? null : args.map(argumentField),
  dataset: takesDatasets ? list.dataset_arguments.map(argumentField) : [],
  sampling: samplingFields(list),
  options: optionFields(list),
});

/** The fields of what is given, described or not: what a run was made with stays, though its environment knows it no more. */
export function fieldsWith(fields: readonly FormField[], values: Values, elsewhere: readonly FormField[] = []): readonly FormField[] {
  const known = new Set([...fields, ...elsewhere].map(({ name }) => name));
  return [...fields, ...Object.keys(values).flatMap((name) => (known.has(name) ? [] : [unknownField(name)]))];
}

export const argsFields = ({ args, dataset }: Form, values: Values): readonly FormField[] => fieldsWith(args ?? [], values, dataset);
export const samplingFieldsWith = ({ sampling }: Form, values: Values): readonly FormField[] => fieldsWith(sampling, values);

/** What people call a field. */
export function fieldLabel(name: FieldName, form: Form): string {
  if (name === "environment") return "Environment";
  if (name === "model") return "Model";
  if (name === "place") return "Where the model is";
  const [group = "", ...rest] = name.split(".");
  const own = rest.join(".");
  const fields = group === "args" ? [...(form.args ?? []), ...form.dataset] : group === "sampling" ? form.sampling : form.options;
  return fields.find((field) => field.name === own)?.label ?? own;
}
