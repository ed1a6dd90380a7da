import type { ListedEvaluation } from "../../api/answers.ts";

/** What the address of the runs page says: what is shown of the runs, in which order, and which are chosen. */

export const STATUSES = ["PENDING", "RUNNING", "COMPLETED", "FAILED", "TIMEOUT", "CANCELLED"] as const satisfies readonly ListedEvaluation["status"][];
export type Status = (typeof STATUSES)[number];
export const SORTS = ["created", "updated", "environment", "model", "status", "reward", "done", "cost"] as const;
export type Sort = (typeof SORTS)[number];

export interface RunsQuery {
  readonly search: string;
  /** Empty = all. */
  readonly statuses: readonly Status[];
  readonly environment: string;
  readonly model: string;
  readonly tag: string;
  /** A user. */
  readonly by: string;
  readonly sort: Sort;
  readonly order: "asc" | "desc";
  /** From 1. */
  readonly page: number;
  /** Ids of chosen runs, in the order in which they were chosen. */
  readonly chosen: readonly string[];
}

/** Runs of one page. */
export const PAGE_RUNS = 100;
/** Runs that one comparison takes. */
export const MOST_CHOSEN = 10;

/** What an address means; whatever it says wrong is as if it did not say it. */
export function runsQueryOf(query: Readonly<Record<string, string | undefined>>): RunsQuery {
  const { q = "", status = "", env = "", model = "", tag = "", by = "", sort = "", order = "", page = "", chosen = "" } = query;
  const ids = chosen.split(",").filter((id) => /^[0-9a-f]{8}$/.test(id));
  return {
    search: q,
    statuses: STATUSES.filter((each) => status.split(",").includes(each)),
    environment: env,
    model,
    tag,
    by,
    sort: SORTS.find((each) => each === sort) ?? "created",
    order: order === "asc" ? "asc" : "desc",
    page: /^[1-9]\d{0,8}$/.test(page) ? Number(page) : 1,
    chosen: [...new Set(ids)].slice(0, MOST_CHOSEN),
  };
}

/** As an address says it: what is as usual is left out. */
export function addressOf(query: RunsQuery): Readonly<Record<string, string>> {
  const { search, statuses, environment, model, tag, by, sort, order, page, chosen } = query;
  const all = {
    q: search,
    status: statuses.join(","),
    env: environment,
    model,
    tag,
    by,
    sort: sort === "created" ? "" : sort,
    order: order === "desc" ? "" : order,
    page: page === 1 ? "" : String(page),
    chosen: chosen.join(","),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== ""));
}

/** As the API is asked. */
export function listQueryOf(query: RunsQuery): Readonly<Record<string, string | number | undefined>> {
  const { search, statuses, environment, model, tag, by, sort, order, page } = query;
  return {
    skip: (page - 1) * PAGE_RUNS,
    limit: PAGE_RUNS,
    sort,
    order,
    search: search.trim() || undefined,
    status: statuses.join(",") || undefined,
    environment_name: environment || undefined,
    model: model || undefined,
    tag: tag || undefined,
    created_by: by || undefined,
  };
}

export const isFiltered = ({ search, statuses, environment, model, tag, by }: RunsQuery): boolean =>
  search.trim() !== "" || statuses.length > 0 || [environment, model, tag, by].some((each) => each !== "");

/** Another view of the list begins at its first page. */
export const changed = (query: RunsQuery, change: Partial<RunsQuery>): RunsQuery => ({ ...query, page: 1, ...change });

/** All runs, in the same order. */
export const unfiltered = (query: RunsQuery): RunsQuery => changed(query, { search: "", statuses: [], environment: "", model: "", tag: "", by: "" });

/** A run is added to those that are chosen, or taken from them; one beyond `MOST_CHOSEN` takes the place of the last. */
export function toggled({ chosen }: RunsQuery, id: string): readonly string[] {
  if (chosen.includes(id)) return chosen.filter((each) => each !== id);
  return [...chosen.slice(0, MOST_CHOSEN - 1), id];
}

/** A column is sorted by at first as one would look at it, and then the other way. */
export function sortedBy(query: RunsQuery, sort: Sort): RunsQuery {
  const first = sort === "environment" || sort === "model" || sort === "status" ? "asc" : "desc";
  const order = query.sort === sort ? (query.order === "asc" ? "desc" : "asc") : first;
  return changed(query, { sort, order });
}
