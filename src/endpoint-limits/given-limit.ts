import type { GivenLimit } from "../config/endpoints/given-limit.ts";
import type { RunConfig } from "../config/plan/run-config.ts";
import { isLike } from "../config/wildcard.ts";
import { DEFAULT_TEAM } from "../teams/team-name.ts";
import { type Amounts, type Cap, LIMIT_KINDS } from "./limit-kinds.ts";
import { placeUrl } from "./limiter-name.ts";
import { modelClass } from "./model-class.ts";

/** Where a Limiter stands: an endpoint, the name of a key of it, and the models that share a limit there. */
interface LimitPlace {
  readonly base_url: string;
  readonly api_key_var: string;
  readonly model_class: string;
}

/** Whether a limit is one of this place. */
export const isOf = ({ base_url, api_key_var, model }: GivenLimit, place: LimitPlace): boolean =>
  placeUrl(base_url) === placeUrl(place.base_url) &&
  (api_key_var === undefined || api_key_var === place.api_key_var) &&
  // A model by its full name means all those that share its limit.
  (model === undefined || isLike(model, place.model_class) || modelClass(base_url, model) === place.model_class);

/** What several limits come to at a place: of each kind the strictest. Null where none of them is of it. */
export function givenAmounts(limits: readonly GivenLimit[], place: LimitPlace): Amounts | null {
  const own = limits.filter((limit) => isOf(limit, place));
  if (own.length === 0) return null;
  const strictest = LIMIT_KINDS.map((kind) => [kind, Math.min(...own.map(({ limits }) => limits[kind] ?? Number.POSITIVE_INFINITY))] as const);
  return Object.fromEntries(strictest.filter(([, amount]) => amount !== Number.POSITIVE_INFINITY));
}

/** What the holders of a team that were given a limit share. */
export const givenCap = (team: string, limits: Amounts): Cap => ({ id: `given/${team}`, limits });

/**
 * The bounds that a run's requests at a place keep to together with those of other runs: what the team was given there, and, for its model, the common
 * limit of its command. Judges have a limit of their own in each run.
 */
export function capsOf(
  { limits = [], team = DEFAULT_TEAM, common_limit }: Pick<RunConfig, "limits" | "team" | "common_limit">,
  place: LimitPlace,
  kind: "model" | "judges",
): readonly Cap[] {
  const given = givenAmounts(limits, place);
  const common =
    kind === "judges" || common_limit === undefined ? [] : [{ id: `command/${team}/${common_limit.id}`, limits: { concurrent: common_limit.concurrent } }];
  return given === null ? common : [...common, givenCap(team, given)];
}
