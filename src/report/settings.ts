/** How the settings of a run are worded for people. */
import type { Json, JsonObject } from "../config/plan/run-config.ts";

/** Addresses of replicas are joined by commas, as in `metadata.json`. */
export function endpointText(base_url: string): string {
  const places = base_url.split(",");
  return places.length === 1 ? base_url : `${places.length} endpoints: ${places.join(", ")}`;
}

/** `max_concurrent` as stored, 0 or less = no limit; never more than there are rollouts. */
export function concurrencyText(max_concurrent: Json | undefined, rollouts: number): string {
  const unlimited = typeof max_concurrent !== "number" || max_concurrent <= 0;
  return unlimited ? "∞ at once" : `${Math.min(max_concurrent, rollouts)} at once`;
}

/** What was asked for beyond the model's own defaults; null when nothing was. */
export function samplingText(sampling_args: JsonObject): string | null {
  const given = Object.entries(sampling_args).filter(([name, value]) => value !== null && !(name === "n" && value === 1) && !isEmpty(value));
  return given.length === 0 ? null : given.map(([name, value]) => `${name}=${typeof value === "string" ? value : JSON.stringify(value)}`).join(", ");
}

/** The data set by its name, and the digest of its rows as far as it tells two apart; null where nothing is known of it. */
export function datasetText(name: string | null | undefined, digest: string | null): string | null {
  if (name === null || name === undefined) return null;
  return digest === null ? name : `${name} (rows ${digest.slice(0, 12)})`;
}

/** Tasks that are in no example; null where there are none, or nobody counted. */
export function notRunText(n_not_run: number | null | undefined): string | null {
  if (n_not_run === null || n_not_run === undefined || n_not_run === 0) return null;
  return `${n_not_run} ${n_not_run === 1 ? "task" : "tasks"} of the data set: beyond the examples that were asked for, or left out since nothing here verifies them`;
}

/** Arguments of the environment, an upload by the name of its file; null when there are none. */
export function argumentsText(env_args: JsonObject, datasetName: string | null | undefined): string | null {
  const { dataset } = env_args;
  const uploaded = typeof dataset === "string" && dataset.startsWith("sha256:") && datasetName !== null && datasetName !== undefined;
  return isEmpty(env_args) ? null : JSON.stringify(uploaded ? { ...env_args, dataset: datasetName } : env_args);
}

/** Options set over those of the environment (`-x`); null when there are none. */
export const optionsText = (extra_env_kwargs: JsonObject | undefined): string | null =>
  extra_env_kwargs === undefined || isEmpty(extra_env_kwargs) ? null : JSON.stringify(extra_env_kwargs);

const isEmpty = (value: Json): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;
