import type { ArgumentFacts, ListedOption, OptionList } from "../../api/answers.ts";
import { type FieldShape, shapeOf } from "../../design/field/field-shape.ts";
import { isSchema, type Schema } from "../../design/field/values-text.ts";

/** One field of the form. */
export interface FormField {
  readonly name: string;
  /** What people call it. */
  readonly label: string;
  readonly shape: FieldShape;
  readonly schema: Schema;
  readonly help: string;
  /** Undefined: it has none. */
  readonly default: unknown;
  readonly required: boolean;
}

/** A field that is an option of the table. */
export interface OptionField extends FormField {
  readonly option: ListedOption;
}

/** Options that other parts of the form say: the environment's arguments, the model, sampling. `custom_secrets` are values of secrets, which no page keeps. */
const ELSEWHERE = ["env_args", "model", "endpoint_id", "sampling_args", "custom_secrets", "max_concurrent_total"];

/** Titles of the groups of options, in the order in which they stand. */
export const GROUP_TITLES: Readonly<Record<string, string>> = {
  model: "Model and endpoint",
  numbers: "Which examples, in which order",
  speed: "Speed and limits",
  sampling: "Sampling",
  stopping: "Stopping, retries and time",
  money: "Money, cache and batches",
  environment: "How the environment runs",
  statistics: "Scores and statistics",
  access: "What the environment may do",
  push: "Hugging Face Hub",
  log: "Name, log and monitor",
};

/** Every option that a creation carries and no other part of the form says. */
export const optionFields = ({ options }: OptionList): readonly OptionField[] =>
  options.filter(({ name, http }) => http !== null && !ELSEWHERE.includes(name)).map(fieldOfOption);

function fieldOfOption(option: ListedOption): OptionField {
  const { name, schema, help, default: usual } = option;
  return { ...{ name, label: labelOf(name), shape: shapeOfOption(option), schema, help, default: usual, required: false }, option };
}

function shapeOfOption({ kind, schema }: ListedOption): FieldShape {
  if (kind === "switch") return { kind: "switch" };
  if (kind === "list" || kind === "table") return { kind: "lines" };
  const shape = shapeOf(schema);
  // A text that is looked at as a number too, such as that of --num-workers, is what a command line reads.
  return kind === "text" && shape.kind === "json" ? { kind: "text" } : shape;
}

/** Words of names that are written in another way. */
const WRITTEN: Readonly<Record<string, string>> = { api: "API", url: "URL", hf: "HF", hub: "Hub" };

/** `max_concurrent` → `Max concurrent`, `api_base_url` → `API base URL`. */
export function labelOf(name: string): string {
  const text = name
    .split("_")
    .map((word) => WRITTEN[word] ?? word)
    .join(" ");
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** The arguments of sampling that every provider reads alike, from the schema of `sampling_args`. */
export function samplingFields({ options }: OptionList): readonly FormField[] {
  const schema = options.find(({ name }) => name === "sampling_args")?.schema.properties;
  return Object.entries(isSchema(schema) ? schema : {}).flatMap(([name, each]) =>
    isSchema(each) && !NEVER_SAMPLED.includes(name)
      ? [{ name, label: labelOf(name), shape: samplingShape(name, each), schema: each, help: SAMPLING_HELP[name] ?? "", default: undefined, required: false }]
      : [],
  );
}

/** One answer per request: nothing to choose. */
const NEVER_SAMPLED = ["n"];
/** What the schema leaves open between a text and a list of texts. */
const samplingShape = (name: string, schema: Schema): FieldShape => (name === "stop" ? { kind: "lines" } : shapeOf(schema));
const SAMPLING_HELP: Readonly<Record<string, string>> = {
  max_tokens: "Most tokens of one answer.",
  temperature: "Sampling temperature.",
  stop: "One text a line: an answer ends before it.",
  extra_body: "Fields that only the provider knows, as a JSON object.",
};

export const argumentField = ({ name, schema, required, default: usual, description }: ArgumentFacts): FormField => ({
  ...{ name, label: name, shape: shapeOf(schema), schema, help: description ?? "", default: usual, required },
});

/** A value that is given and that nothing describes: as JSON. */
export const unknownField = (name: string): FormField => ({
  ...{ name, label: name, shape: { kind: "json" }, schema: {}, help: "", default: undefined, required: false },
});

/** Whether a field is what somebody looks for, by every word of it. */
export function isLookedFor({ name, label, help }: FormField, search: string): boolean {
  const text = `${name} ${label} ${help}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}
