import { type CommonPart, partsAtOnce, sharedPlace } from "../../endpoint-limits/common-limit.ts";
import { invalid } from "../errors.ts";
import type { UnnamedConfig } from "./resolve.ts";

/**
 * What runs that are created together get of `max_concurrent_total`, in their order, once the creation has a name. Secrets of their own they have alike, so that
 * a key of one name is one key. Throws `invalid_request` where there are too few places for all endpoints.
 */
export const commonParts = (total: number, configs: readonly UnnamedConfig[]): ((named: string) => readonly CommonPart[]) =>
  partsAtOnce(
    total,
    configs.map((config) => ({ place: sharedPlace(config), most: config.max_concurrent })),
    "body",
  );

/** A run of several places has a Limiter at each, and none that all of them share. */
export function mustBeAtOnePlace(config: UnnamedConfig): void {
  if (config.common_limit !== undefined && sharedPlace(config) === null)
    throw invalid(
      ["body", "eval_config", "common_limit"],
      "is for evaluations that call one place each, and this one has replicas: lower max_concurrent instead",
    );
}
