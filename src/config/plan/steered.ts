import type { RunConfig } from "./run-config.ts";

/**
 * What of a run can be set while it works: of what says how the work is carried out and watched, that which is decided anew all the time. The rest is taken
 * by a grant, or told to somebody, at its beginning: a resume changes it.
 */
export const STEERED_FIELDS = [
  "max_concurrent",
  "max_concurrent_generation",
  "max_concurrent_scoring",
  "priority",
  "timeout_minutes",
  "stall_minutes",
] as const;
export type SteeredField = (typeof STEERED_FIELDS)[number];

/** New values; absent = as it is. Of the limits 0 = none. */
export interface SteeredSettings {
  readonly max_concurrent?: number;
  readonly max_concurrent_generation?: number;
  /** Null = as many as `max_concurrent`. */
  readonly max_concurrent_scoring?: number | null;
  readonly priority?: number;
  /** Null = no limit. */
  readonly timeout_minutes?: number | null;
  readonly stall_minutes?: number;
}

/** The configuration without what may be another a moment later: what rows depend on is in the rest. */
export function unsteered(config: RunConfig): Omit<RunConfig, SteeredField> {
  const rest: Partial<RunConfig> = { ...config };
  for (const field of STEERED_FIELDS) delete (rest as Record<string, unknown>)[field];
  return rest as Omit<RunConfig, SteeredField>;
}

/** What differs, for people: `max_concurrent 64 (was 16)`. */
export function steeredText(before: RunConfig, config: RunConfig): readonly string[] {
  const shown = (value: RunConfig[SteeredField]): string => (value === undefined || value === null ? "none" : String(value));
  return STEERED_FIELDS.flatMap((field) => (config[field] === before[field] ? [] : [`${field} ${shown(config[field])} (was ${shown(before[field])})`]));
}
