import type { Viewer } from "../viewer.ts";

/** Addresses of pages. Every view has one, and whoever opens it sees the same. */

export const RUNS = "/dashboard/";
/** Links that are followed without loading a page anew: those of pages that are drawn here. Files the service sends. */
export const DRAWN_HERE = /^\/dashboard(?:\/(?!assets\/|evaluations\/[^/]+\/files\/)[^?]*)?(?:\?|$)/;

export type Link = (path: string, query?: Readonly<Record<string, string>>) => string;

/** Links of somebody with several teams name the one that they are looking at. */
export const linkOf =
  ({ team, teams }: Viewer): Link =>
  (path, query = {}) => {
    const all = new URLSearchParams({ ...query, ...(teams.length > 1 ? { team } : {}) });
    return all.size === 0 ? path : `${path}?${all}`;
  };

/** As the router has it. */
export const RUN_PATH = "/dashboard/evaluations/:id";
export const runAddress = (id: string): string => `/dashboard/evaluations/${encodeURIComponent(id)}`;
export const samplesAddress = (id: string): string => `${runAddress(id)}/samples`;
export const SAMPLES_PATH = "/dashboard/evaluations/:id/samples";
/** `example`: place of the example in the results; `rollout`: number of the attempt; both from 0. */
export const rolloutAddress = (id: string, example: number, rollout: number): string => `${samplesAddress(id)}/${example}/${rollout}`;
/** Of any rollout, as the router reads it. */
export const ROLLOUT_PATH = "/dashboard/evaluations/:id/samples/:example/:rollout";
/** With `runs=` in its query: ids with commas between, the baseline first. */
export const COMPARE = "/dashboard/compare";
/** With `from=` a run's id in its query: the same again, with changes; with `environment=` that environment. */
export const NEW_RUN = "/dashboard/new";
/** The same again, which keeps what judges saw and said: for `link`. */
export const keepingAddress = (from: string): readonly [string, Readonly<Record<string, string>>] => [NEW_RUN, { from, keeps: KEEPS_JUDGEMENTS }];
/** Value of `keeps=` in the query of `NEW_RUN`. */
export const KEEPS_JUDGEMENTS = "judgements";
export const ENVIRONMENTS = "/dashboard/environments";
/** `name`: as it is given to a run, `owner/name` of a published one. */
export const environmentAddress = (name: string): string => `${ENVIRONMENTS}/${encodeURIComponent(name)}`;
export const SCHEDULES = "/dashboard/schedules";
export const scheduleAddress = (name: string): string => `${SCHEDULES}/${encodeURIComponent(name)}`;
export const EVALUATORS = "/dashboard/evaluators";
export const evaluatorAddress = (name: string): string => `${EVALUATORS}/${encodeURIComponent(name)}`;
export const SETTINGS = "/dashboard/settings";
