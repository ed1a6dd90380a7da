import type { RunStatus } from "../../../src/config/run-status.ts";
import { environmentName } from "../environment-name.ts";

/** Which runs a list is of, and in which order, as SQL over the Registry's runs. */

export const RUN_ORDERS = ["created", "updated", "environment", "model", "status", "reward", "done", "cost"] as const;
export type RunOrder = (typeof RUN_ORDERS)[number];

export interface RunListQuery {
  readonly skip: number;
  readonly limit: number;
  readonly environment_name: string | null;
  // Absent from a door of before.
  /** Words between spaces, each of which stands in the id, name, environment or model. */
  readonly search?: string;
  readonly statuses?: readonly RunStatus[];
  readonly model?: string;
  /** Of what a run is tagged with, one. */
  readonly tag?: string;
  readonly created_by?: string;
  /** Absent = `created`. */
  readonly sort?: RunOrder;
  /** Absent = the newest, highest or last of the alphabet first. */
  readonly order?: "asc" | "desc";
}

type Value = string | number;

export interface RunListSql {
  readonly where: string;
  readonly bound: readonly Value[];
  /** Of rows with `run_id` as `id`. Null: newest first, which an index has. */
  readonly order: string | null;
}

/** What a projection is sorted by; the first two are columns. */
const KEYS: Readonly<Record<RunOrder, string>> = {
  created: "created_at",
  environment: "env_name",
  updated: "projection ->> '$.updated_at'",
  model: "lower(projection ->> '$.model')",
  status: "projection ->> '$.status'",
  reward: "projection ->> '$.avg_reward'",
  done: "CAST(projection ->> '$.done_rollouts' AS REAL) / max(1, projection ->> '$.total_rollouts')",
  cost: "projection ->> '$.cost.total_usd'",
};

/** What a word of a search stands in. */
const SEARCHED = "lower(run_id || ' ' || (projection ->> '$.env_id') || ' ' || (projection ->> '$.model') || ' ' || coalesce(projection ->> '$.name', ''))";
/** Further words of a search find no fewer runs. */
const MOST_WORDS = 10;

/** What each of is looked for, in small letters. */
export const wordsOf = (search: string): readonly string[] => search.toLowerCase().split(/\s+/).filter(Boolean).slice(0, MOST_WORDS);

/** Everything but an environment is looked for in the projections, so such a list reads all runs of the team. */
export function runListSql({
  environment_name,
  search = "",
  statuses = [],
  model,
  tag,
  created_by,
  sort = "created",
  order = "desc",
}: RunListQuery): RunListSql {
  const parts = ["version IS NOT NULL"];
  const bound: Value[] = [];
  const value = (each: Value): string => `?${bound.push(each)}`;
  if (environment_name !== null) {
    const { owner, name } = environmentName(environment_name);
    const given = value(owner);
    parts.push(`env_name = ${value(name)} AND (${given} = '' OR env_owner = '' OR env_owner = ${given})`);
  }
  if (statuses.length > 0) parts.push(`projection ->> '$.status' IN (${statuses.map(value).join(", ")})`);
  if (model !== undefined) parts.push(`projection ->> '$.model' = ${value(model)}`);
  if (tag !== undefined) parts.push(`EXISTS (SELECT 1 FROM json_each(projection, '$.tags') WHERE value = ${value(tag)})`);
  if (created_by !== undefined) parts.push(`projection ->> '$.created_by' = ${value(created_by)}`);
  // `instr`, since the platform takes patterns of 50 bytes at most, and a word may have their marks in it.
  for (const word of wordsOf(search)) parts.push(`instr(${SEARCHED}, ${value(word)}) > 0`);
  const key = KEYS[sort];
  const usual = sort === "created" && order === "desc";
  return { where: parts.join(" AND "), bound, order: usual ? null : `${key} IS NULL, ${key} ${order === "asc" ? "ASC" : "DESC"}, created_at DESC, id` };
}
