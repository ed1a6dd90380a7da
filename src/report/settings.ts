/** How the settings of a run are worded for people. */
import type { Json, JsonObject } from "../config/run-config.ts";

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

const isEmpty = (value: Json): boolean => typeof value === "object" && value !== null && Object.keys(value).length === 0;
