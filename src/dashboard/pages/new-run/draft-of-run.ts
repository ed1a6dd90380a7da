import type { Evaluation } from "../../api/run-answers.ts";
import { givenOf, type Values } from "../../design/field/given.ts";
import { isSchema } from "../../design/field/values-text.ts";
import { type Draft, EMPTY_DRAFT, type Place } from "./draft.ts";
import { argsFields, type Form, samplingFieldsWith } from "./form.ts";
import type { FormField } from "./form-options.ts";

/** Of the settings that a run tells, those that are not settings of another run: what it shares with others of its command, and an address that is told in part. */
const NOT_AGAIN = ["common_limit", "heartbeat_url", "replicas", "env_args", "sampling_args"];

/** Options whose usual value is the environment's or the service's to say: what the run has is written out. */
const TOLD = ["num_examples", "rollouts_per_example", "api_base_url", "api_key_var", "timeout_minutes"];

/** The environment of a run, as a creation names it, and the version it was made with. */
export const environmentOfRun = ({ metadata, edgewise }: Evaluation): { readonly reference: string; readonly version: string } => ({
  ...{ reference: metadata.env_id, version: edgewise.env_version },
});

/** A draft that asks for the same as a run was made with. `version`: "" = the latest there is now. `form`: of its environment. */
export function draftOfRun(run: Evaluation, form: Form, version: string): Draft {
  const { metadata, eval_config: config } = run;
  const args = isSchema(config.env_args) ? config.env_args : {};
  const sampling = Object.fromEntries(
    Object.entries(isSchema(config.sampling_args) ? config.sampling_args : {}).filter(([name, value]) => !(name === "max_tokens" && value === null)),
  );
  const options = Object.fromEntries(Object.entries(config).filter(([name, value]) => !NOT_AGAIN.includes(name) && value !== null));
  // Runs without a name of their own are called after what they do.
  const named = run.name === `${metadata.env_id}-${run.model_name}` ? {} : { eval_name: run.name };
  return {
    ...EMPTY_DRAFT,
    ...{ environment: metadata.env_id, version, model: metadata.model, place: placeOf(config) },
    args: valuesOf([...argsFields(form, namesOf(args)), ...form.dataset], args),
    sampling: valuesOf(samplingFieldsWith(form, namesOf(sampling)), sampling),
    options: valuesOf(
      form.options.filter((field) => !isUsual(field, options)),
      { ...options, ...named },
    ),
  };
}

const namesOf = (values: object): Values => Object.fromEntries(Object.keys(values).map((name) => [name, { text: "" }]));

const valuesOf = (fields: readonly FormField[], values: object): Values =>
  Object.fromEntries(
    fields.flatMap(({ name, shape }) => {
      const entry = Object.entries(values).find(([each]) => each === name);
      return entry === undefined ? [] : [[name, givenOf(shape, shape.kind === "lines" ? linesOf(entry[1]) : entry[1])] as const];
    }),
  );

/** A table as the lines that it is written in. */
const linesOf = (value: unknown): unknown =>
  isSchema(value) ? Object.entries(value).map(([name, each]) => `${name}: ${typeof each === "string" ? each : JSON.stringify(each)}`) : value;

/** What needs not be said, since it is as it always is. */
const isUsual = ({ name, default: usual }: FormField, values: Readonly<Record<string, unknown>>): boolean =>
  !TOLD.includes(name) && Object.hasOwn(values, name) && JSON.stringify(values[name]) === JSON.stringify(usual);

function placeOf({ replicas, api_base_url, api_client_type }: Evaluation["eval_config"]): Place {
  if (Array.isArray(replicas)) return { kind: "replicas", replicas };
  return typeof api_base_url === "string" && api_client_type !== "workers_ai" ? { kind: "address" } : { kind: "service" };
}
