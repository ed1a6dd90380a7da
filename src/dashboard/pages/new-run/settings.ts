import { withProvider, type ProviderName } from "../../../config/endpoints/providers.ts";
import { readGiven, type Values, valueIn } from "../../design/field/given.ts";
import type { Draft, FieldName, Group } from "./draft.ts";
import { argsFields, type Form, samplingFieldsWith } from "./form.ts";
import type { FormField, OptionField } from "./form-options.ts";

/** An option that is given, with its value. */
export interface GivenOption {
  readonly field: OptionField;
  readonly value: unknown;
}

/** What a draft says, read. */
export interface Settings {
  readonly env_args: Readonly<Record<string, unknown>>;
  readonly sampling_args: Readonly<Record<string, unknown>>;
  readonly model: string;
  /** In the order of the table. */
  readonly options: readonly GivenOption[];
}

/** What is wrong, by the field that it is wrong in. */
export type Problems = ReadonlyMap<FieldName, string>;

/** Reads every field. With problems the settings are of the fields without. */
export function settingsOf(draft: Draft, form: Form): { readonly settings: Settings; readonly problems: Problems } {
  const problems = new Map<FieldName, string>();
  const object = (group: Group, fields: readonly FormField[], values: Values): Record<string, unknown> =>
    Object.fromEntries(
      fields.flatMap((field): readonly (readonly [string, unknown])[] => {
        const given = valueIn(values, field.name);
        if (given === null) {
          if (field.required) problems.set(`${group}.${field.name}`, "must be given");
          return [];
        }
        const read = readGiven(field.shape, given);
        if (read.ok) return [[field.name, read.value]];
        problems.set(`${group}.${field.name}`, read.msg);
        return [];
      }),
    );
  const env_args = object("args", [...argsFields(form, draft.args), ...form.dataset], draft.args);
  const sampling_args = object("sampling", samplingFieldsWith(form, draft.sampling), draft.sampling);
  const options = object("options", form.options, draft.options);
  if (draft.environment === "") problems.set("environment", "must be chosen");
  const model = modelOf(draft);
  if (model === "") problems.set("model", "must be given");
  if (draft.place.kind === "address" && !Object.hasOwn(options, "api_base_url")) problems.set("options.api_base_url", "must be given");
  const given = form.options.flatMap((field): readonly GivenOption[] =>
    Object.hasOwn(options, field.name) && !isOff(field, options[field.name]) && !isOfOtherPlace(field.name, draft)
      ? [{ field, value: options[field.name] }]
      : [],
  );
  return { settings: { env_args, sampling_args, model, options: given }, problems };
}

/** A switch that is off says nothing: no command line could say it. */
const isOff = ({ shape }: FormField, value: unknown): boolean => shape.kind === "switch" && value === false;

/** An address that was typed before another place was chosen. */
const isOfOtherPlace = (name: string, { place }: Draft): boolean => name === "api_base_url" && place.kind !== "address";

/** An endpoint of the team is named in the model's place. */
export const modelOf = ({ place, model }: Pick<Draft, "place" | "model">): string => (place.kind === "endpoint" ? place.id : model.trim());

/** What a provider's name stands for where the options leave it open: as a command line has it. */
export function placeOptions({ place }: Pick<Draft, "place">, options: readonly GivenOption[]): Readonly<Record<string, unknown>> {
  if (place.kind === "replicas") return { replicas: place.replicas };
  if (place.kind !== "provider") return {};
  const named = Object.fromEntries(options.map(({ field, value }) => [field.name, value]));
  const { api_base_url, api_key_var, api_client_type } = withProvider({ provider: place.name as ProviderName, ...named } as Parameters<typeof withProvider>[0]);
  return defined({ api_base_url, api_key_var, api_client_type });
}

const defined = (all: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
