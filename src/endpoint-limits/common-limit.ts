import { EdgewiseError } from "../errors/result.ts";
import { fairShares } from "../config/shares.ts";
import type { RunConfig } from "../config/plan/run-config.ts";
import { placeUrl } from "./limiter-name.ts";
import { modelClass } from "./model-class.ts";

/** `max_concurrent_total` among the evaluations of one command, or of one request: through the Limiter among those that share one, and divided among Limiters. */

/** One of the evaluations. */
export interface Sharing {
  /** The same for those whose requests are sure to meet at one Limiter; null: it calls several, or it is not known which. */
  readonly place: string | null;
  /** Its own `max_concurrent`; `<= 0` = none. */
  readonly most: number;
}

/** Evaluations that keep to their part of the limit together, whichever of them has something to send. */
export interface SharingGroup {
  /** By their places among all evaluations, ascending. */
  readonly members: readonly number[];
  /** 0: there are more Limiters than places, and it waits until another group has ended. */
  readonly part: number;
}

/** The place of a run that calls one: two with the same meet at one Limiter. */
export function sharedPlace({
  base_url,
  api_key_var,
  model,
  replicas = [],
}: Pick<RunConfig, "base_url" | "api_key_var" | "model" | "replicas">): string | null {
  return replicas.length > 1 ? null : JSON.stringify([placeUrl(base_url), api_key_var, modelClass(base_url, model)]);
}

/**
 * The groups of evaluations that share a limit of `total`; their parts sum to at most that. Where all evaluations find a place each group has what its members
 * would have by themselves (`fairShares`); where they do not, all groups have about the same.
 */
export function sharingGroups(total: number, evals: readonly Sharing[]): readonly SharingGroup[] {
  const members = new Map<string | number, number[]>();
  for (const [index, { place }] of evals.entries()) members.set(place ?? index, [...(members.get(place ?? index) ?? []), index]);
  const groups = [...members.values()];
  const limits = evals.map(({ most }) => (most <= 0 ? Number.POSITIVE_INFINITY : most));
  const sum = (values: readonly number[], of: readonly number[]): number => of.reduce((all, index) => all + (values[index] ?? 0), 0);
  const own = total >= evals.length ? fairShares(total, limits) : null;
  const among = fairShares(
    total,
    groups.map((group) => sum(limits, group)),
  );
  return groups.map((group, at) => ({ members: group, part: own === null ? (among[at] ?? 0) : sum(own, group) }));
}

export type CommonPart = Pick<RunConfig, "max_concurrent" | "common_limit">;

/** What a member of a group gets as settings of its run; `id` names the group for as long as any of them works. */
export function partOf({ members }: SharingGroup, part: number, most: number, id: string): CommonPart {
  const max_concurrent = most <= 0 ? part : Math.min(most, part);
  return members.length === 1 ? { max_concurrent } : { max_concurrent, common_limit: { id, concurrent: part } };
}

/**
 * The parts of evaluations that all begin at once, in their order, where nobody stays to begin what finds no place. `named`: what their creation is called, for
 * as long as any of them works. Throws `invalid_request` with `place` in front.
 */
export function partsAtOnce(total: number, evals: readonly Sharing[], place: string): (named: string) => readonly CommonPart[] {
  const groups = sharingGroups(total, evals);
  if (groups.some(({ part }) => part === 0))
    throw new EdgewiseError(
      "invalid_request",
      `${place}: max_concurrent_total must be at least ${groups.length}: so many endpoints, keys and models do the evaluations call, and each has its part of it`,
    );
  return (named) =>
    evals.map(({ most }, index) => {
      const at = groups.findIndex(({ members }) => members.includes(index));
      const group = groups[at];
      if (group === undefined) throw new RangeError("each evaluation is in one group");
      return partOf(group, group.part, most, groupId(named, at));
    });
}

/** `at`: of the group among those of its creation. */
export const groupId = (named: string, at: number): string => `${named}-${at + 1}`;
