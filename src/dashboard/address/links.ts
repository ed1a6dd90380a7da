import type { Viewer } from "../viewer.ts";

/** Addresses of pages. Every view has one, and whoever opens it sees the same. */

export const RUNS = "/dashboard/";
/** Links that are followed without loading a page anew: those of pages that are drawn here. Others, such as a run's, the service sends. */
export const DRAWN_HERE = /^\/dashboard\/?(?:\?|$)/;

export type Link = (path: string, query?: Readonly<Record<string, string>>) => string;

/** Links of somebody with several teams name the one that they are looking at. */
export const linkOf =
  ({ team, teams }: Viewer): Link =>
  (path, query = {}) => {
    const all = new URLSearchParams({ ...query, ...(teams.length > 1 ? { team } : {}) });
    return all.size === 0 ? path : `${path}?${all}`;
  };

export const runAddress = (id: string): string => `/dashboard/evaluations/${encodeURIComponent(id)}`;
