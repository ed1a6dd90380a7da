import fc from "fast-check";
import { expect, it } from "vitest";
import { NodeSql } from "../../../../bench/load/node-sql.ts";
import { environmentName } from "../../../../durable-objects/registry/environment-name.ts";
import { RUN_ORDERS, type RunListQuery, runListSql } from "../../../../durable-objects/registry/lists/list-query.ts";
import type { RunProjection } from "../../../../durable-objects/registry/registry-control.ts";
import { listed } from "../../../../src/cli/folder-service/folder-list.ts";

/** What the Registry lists of runs that have these projections, by its own SQL. */
function registryLists(runs: readonly RunProjection[], query: RunListQuery): { readonly ids: readonly string[]; readonly total: number } {
  const sql = new NodeSql();
  sql.exec("CREATE TABLE runs (id TEXT, version INTEGER, created_at INTEGER, env_name TEXT, env_owner TEXT, run_id TEXT, projection TEXT)");
  for (const run of runs) {
    const { owner, name } = environmentName(run.env_id);
    sql.exec("INSERT INTO runs VALUES (?, 1, ?, ?, ?, ?, ?)", run.run_id, run.created_at, name, owner, run.run_id, JSON.stringify(run));
  }
  const { where, bound, order } = runListSql(query);
  const found = sql.exec(`SELECT run_id, run_id AS id FROM runs WHERE ${where} ORDER BY ${order ?? "created_at DESC, run_id"}`, ...bound).toArray();
  sql.close();
  const ids = (found as { run_id: string }[]).map(({ run_id }) => run_id);
  return { ids: ids.slice(query.skip, query.skip + query.limit), total: ids.length };
}

const number = fc.constantFrom(0, 0.25, 1, 3);
const projection = fc.record({
  env_id: fc.constantFrom("alpha", "me/alpha", "you/alpha", "Beta", "me/beta"),
  model: fc.constantFrom("Small", "small", "large-2", "m_%"),
  name: fc.constantFrom(null, "First run", "50% of it"),
  status: fc.constantFrom("RUNNING", "COMPLETED", "FAILED"),
  avg_reward: fc.option(number, { nil: null }),
  done_rollouts: number,
  total_rollouts: fc.constantFrom(0, 1, 4),
  cost: fc.option(fc.record({ total_usd: number }), { nil: undefined }),
  tags: fc.option(fc.constantFrom(["a"], ["a", "b"], []), { nil: undefined }),
  created_at: number,
  updated_at: number,
});
const query = fc.record({
  skip: fc.constantFrom(0, 2),
  limit: fc.constantFrom(3, 100),
  environment_name: fc.constantFrom(null, "alpha", "me/alpha", "beta"),
  search: fc.constantFrom("", "small", "RUN first", " % ", "a ".repeat(12)),
  statuses: fc.constantFrom([], ["RUNNING"], ["RUNNING", "FAILED"]),
  tag: fc.constantFrom(undefined, "b"),
  model: fc.constantFrom(undefined, "small"),
  sort: fc.constantFrom(undefined, ...RUN_ORDERS),
  order: fc.constantFrom(undefined, "asc", "desc"),
});

it("a list of folders has the runs that the Registry would list, in its order", () => {
  fc.assert(
    fc.property(fc.array(projection, { maxLength: 12 }), query, (given, asked) => {
      const runs = given.map((run, at) => ({ ...run, run_id: String(at).padStart(8, "0") })) as unknown as RunProjection[];
      const { runs: own, total } = listed(runs, asked as RunListQuery);
      expect({ ids: own.map(({ run_id }) => run_id), total }).toEqual(registryLists(runs, asked as RunListQuery));
    }),
    { numRuns: 300 },
  );
});
