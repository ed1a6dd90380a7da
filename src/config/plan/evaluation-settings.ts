import { canonicalJson } from "../canonical-json.ts";
import { OPTIONS } from "../options/options.ts";
import { type Json, type JsonObject, placesOf, REACH_FIELDS, RESUME_FIELDS, type ReachField, type ResumeField, type RunConfig } from "./run-config.ts";

/**
 * The settings of an evaluation: everything of a config that says what is measured and how the model is reached, defaults filled in, under
 * the names of the config's fields. Two runs with equal settings are the same evaluation, whatever limits, executors and displays
 * they had. `base_url` has the addresses of replicas, joined as in `metadata.json`; `replicas` is what else they differ in.
 */
export type EvaluationSettings = { readonly [Field in ResumeField | ReachField]: Json };

/** What it means that a config, or a folder of before, lacks a field. */
export const ABSENT_SETTINGS = {
  api_client_type: OPTIONS.api_client_type.default,
  independent_scoring: OPTIONS.independent_scoring.default,
  extra_env_kwargs: {},
  headers: {},
  headers_from_state: {},
  shuffle_seed: null,
  stop_when: null,
  stop_alpha: null,
  cluster_by: null,
  rescored_from: null,
  replicas: [],
} as const satisfies Partial<EvaluationSettings>;

export function evaluationSettings(config: Pick<RunConfig, ResumeField | ReachField | "api_key_var">): EvaluationSettings {
  const own = Object.fromEntries([...RESUME_FIELDS, ...REACH_FIELDS].flatMap((field) => (config[field] === undefined ? [] : [[field, config[field] as Json]])));
  const replicas = (config.replicas ?? []).map(({ headers = {} }) => ({ ...headers }));
  return {
    ...ABSENT_SETTINGS,
    ...own,
    base_url: joinedAddress(config),
    replicas: replicas.some((each) => Object.keys(each).length > 0) ? replicas : [],
  } as unknown as EvaluationSettings;
}

/** With and without a slash at its end an address is the same. */
const joinedAddress = (config: Pick<RunConfig, "replicas" | "base_url" | "api_key_var">): string =>
  plainAddress(
    placesOf(config)
      .map(({ base_url }) => base_url)
      .join(","),
  );
export const plainAddress = (joined: string): string =>
  joined
    .split(",")
    .map((address) => address.replace(/\/+$/, ""))
    .join(",");

/** One text for each of `wanted` that is otherwise in `actual`, with both values. */
export function differencesOf(actual: Readonly<Record<string, unknown>>, wanted: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(wanted).flatMap(([field, value]) => {
    const own = actual[field] ?? null;
    return value === undefined || canonicalJson(own) === canonicalJson(value)
      ? []
      : [`${field}: the run has ${canonicalJson(own)}, this command ${canonicalJson(value)}`];
  });
}

/** What `metadata.json` says of the settings under our own key: those that stand nowhere else in it, or not as they were asked for. */
export function settingsBeside(config: RunConfig): JsonObject {
  const { sampling_args, api_client_type, independent_scoring, headers, headers_from_state, replicas, stop_when, stop_alpha } = evaluationSettings(config);
  const rule: JsonObject = stop_when === null ? {} : { stop_when, stop_alpha };
  return { sampling_args, api_client_type, independent_scoring, headers, headers_from_state, replicas, ...rule };
}
