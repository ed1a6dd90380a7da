import { Hono } from "hono";
import { PlanProblems } from "../../config/plan/plan-problems.ts";
import { postedEvals } from "../../config/plan/posted-plan.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { tokenUseOf } from "../../teams/caller.ts";
import { isAttended } from "../access/access.ts";
import type { AppContext } from "../app-context.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { createRuns } from "./create-runs.ts";
import { InvalidRequest, invalid } from "../errors.ts";
import { idempotencyKeyOf } from "./idempotency-key.ts";
import { configBody, createBody, MAX_ENVIRONMENTS } from "../schemas.ts";

/** `/evaluation-configs`: a config file of several evaluations as one request. */
export const evaluationConfigs = new Hono<AppContext>();

evaluationConfigs.post("/", async (c) => {
  const idempotencyKey = idempotencyKeyOf(c.req);
  const text = await readJsonText(c.req.raw);
  const { evals, maxConcurrentTotal, warnings } = planned(parseBody(configBody, text));
  if (evals.length === 0) throw invalid(["body"], "asks for no evaluation: a list that is swept is empty");
  const ids = await createRuns(c.var.ports, {
    parts: evals.map(({ body, place }) => ({ body: check(createBody, body, place), place })),
    maxConcurrentTotal,
    idempotencyKey,
    bodyDigest: await sha256Hex(text),
    attended: isAttended(c.var.ports.facts, c.req.raw),
    user: c.var.caller.user,
    token: tokenUseOf(c.var.caller),
  });
  c.var.audit.made(...ids);
  return c.json({ evaluations: ids.map((id, index) => ({ evaluation_id: id, label: evals[index]?.label ?? "" })), warnings });
});

/** Everything that is wrong with the file, each at its table and key. */
function planned(document: unknown): ReturnType<typeof postedEvals> {
  try {
    return postedEvals(document, MAX_ENVIRONMENTS);
  } catch (error) {
    if (!(error instanceof PlanProblems)) throw error;
    throw new InvalidRequest(error.problems.map(({ place, key, msg }) => ({ loc: ["body", place, key].filter((part) => part !== ""), msg })));
  }
}
