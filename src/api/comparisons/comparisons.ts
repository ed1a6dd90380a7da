import { Hono } from "hono";
import { compareRuns } from "../../metrics/comparison/compare-runs.ts";
import type { AppContext } from "../app-context.ts";
import { parseBody, readJsonText } from "../body.ts";
import { comparedRuns, notComparable } from "./compared-runs.ts";
import { comparisonBody, comparedExamplesBody } from "./comparison-schemas.ts";
import { comparedExamples } from "./compared-examples.ts";

/** Settled runs of the caller's team, held against the first of them. Nothing is stored: it is made again from the rows, or from their scores of a moment ago. */
export const comparisons = new Hono<AppContext>();

comparisons.post("/", async (c) => {
  const { unpaired, accept_code_change, show, ...asked } = parseBody(comparisonBody, await readJsonText(c.req.raw));
  const { compared, clusterBy } = await comparedRuns(c.var.ports, c.var.scoreTables, asked);
  const outcome = compareRuns(compared, { unpaired, accepted: accept_code_change, shown: show, clusterBy });
  if (outcome.kind === "refused") throw notComparable(outcome.refusals);
  const { kind: _, ...report } = outcome;
  return c.json(report);
});

comparisons.post("/examples", async (c) => {
  const asked = parseBody(comparedExamplesBody, await readJsonText(c.req.raw));
  const { compared, clusterBy } = await comparedRuns(c.var.ports, c.var.scoreTables, asked);
  return c.json(comparedExamples(compared, c.var.scoreTables, clusterBy, asked));
});
