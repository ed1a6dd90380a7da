import { environmentName } from "../../../durable-objects/registry/environment-name.ts";
import { type RunListQuery, type RunOrder, wordsOf } from "../../../durable-objects/registry/lists/list-query.ts";
import type { RunProjection } from "../../../durable-objects/registry/registry-control.ts";

type Key = string | number | null | undefined;

/**
 * As the Registry sorts them (durable-objects/registry/lists/list-query.ts). That is SQL, and the command runs on Nodes that have no SQLite (20), so the order is said
 * again here; a test holds it to what SQLite answers of the same runs.
 */
const KEYS: Readonly<Record<RunOrder, (run: RunProjection) => Key>> = {
  created: ({ created_at }) => created_at,
  updated: ({ updated_at }) => updated_at,
  environment: ({ env_id }) => environmentName(env_id).name,
  model: ({ model }) => model.toLowerCase(),
  status: ({ status }) => status,
  reward: ({ avg_reward }) => avg_reward,
  done: ({ done_rollouts, total_rollouts }) => done_rollouts / Math.max(1, total_rollouts),
  cost: ({ cost }) => cost?.total_usd,
};

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0);

/** The runs that a list is of, in its order. */
export function listed(runs: readonly RunProjection[], query: RunListQuery): { readonly runs: readonly RunProjection[]; readonly total: number } {
  const { sort = "created", order = "desc", skip, limit } = query;
  const way = order === "asc" ? 1 : -1;
  const key = KEYS[sort];
  const found = runs
    .filter((run) => isAsked(run, query))
    .sort((a, b) => ordered(key(a), key(b), way) || b.created_at - a.created_at || compare(a.run_id, b.run_id));
  return { runs: found.slice(skip, skip + limit), total: found.length };
}

/** What has no value stands last, either way. */
function ordered(a: Key, b: Key, way: 1 | -1): number {
  const isNone = (key: Key): key is null | undefined => key === null || key === undefined;
  return isNone(a) || isNone(b) ? Number(isNone(a)) - Number(isNone(b)) : way * compare(a, b);
}

function isAsked(run: RunProjection, { environment_name, search = "", statuses = [], model, tag, created_by }: RunListQuery): boolean {
  if (environment_name !== null && !isOf(run.env_id, environment_name)) return false;
  if (statuses.length > 0 && !statuses.includes(run.status)) return false;
  if (model !== undefined && run.model !== model) return false;
  if (tag !== undefined && run.tags?.includes(tag) !== true) return false;
  if (created_by !== undefined && run.created_by !== created_by) return false;
  const searched = `${run.run_id} ${run.env_id} ${run.model} ${run.name ?? ""}`.toLowerCase();
  return wordsOf(search).every((word) => searched.includes(word));
}

/** An owner counts where both name one. */
function isOf(id: string, asked: string): boolean {
  const [own, given] = [environmentName(id), environmentName(asked)];
  return own.name === given.name && (own.owner === "" || given.owner === "" || own.owner === given.owner);
}
