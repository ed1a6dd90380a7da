import { Hono } from "hono";
import type { z } from "zod";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { invalid } from "../errors.ts";
import { askRun } from "../cells/ask-run.ts";
import { found } from "../runs/run-of.ts";
import { type distribution as answer, distributionQuery } from "./summary-schemas.ts";

/** `/evaluations/{id}/distribution`: how a metric spreads over a run's rows. */
export const distribution = new Hono<AppContext>();

distribution.get("/:id/distribution", async (c) => {
  const { metric, bins } = check(distributionQuery, c.req.query(), "query");
  const counted = found(await askRun(c, (run) => run.distribution(metric, bins)));
  if ("metrics" in counted) throw invalid(["query", "metric"], `must be of ${["reward", ...counted.metrics].join(", ")}: no row has ${metric}`);
  const { range, is_zero_one, bins: rows, rollouts, n, errored } = counted;
  const said: z.infer<typeof answer> = {
    metric,
    rollouts,
    n,
    errored,
    min: range?.[0] ?? null,
    max: range?.[1] ?? null,
    zero_one: is_zero_one,
    bins: rows.map(([lo, hi, count]) => [lo, hi, count]),
  };
  return c.json(said);
});
