import { PlanProblems } from "../../config/plan/plan-problems.ts";
import { postedEvals } from "../../config/plan/posted-plan.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { check } from "../body.ts";
import { type FieldIssue, InvalidRequest, invalid } from "../errors.ts";
import { type CreateBody, createBody } from "../schemas.ts";

/**
 * The creation that a table of a config file comes to, by the reader of those; of one run, called `name`. `at`: where a request says the table. Throws
 * `InvalidRequest` with everything that is wrong, at the keys of the table.
 */
export function bodyOfTable(table: JsonObject, name: string, at: FieldIssue["loc"]): CreateBody {
  const [planned] = evalsOf(table, at);
  if (planned === undefined) throw invalid(at, "asks for no evaluation");
  const body = check(createBody, { ...planned.body, name }, "body");
  if (body.eval_config.custom_secrets !== undefined)
    throw invalid([...at, "custom_secrets"], "are of one run, and are not kept: keep a secret of the team (`npx edgewise secret create`)");
  if (body.environment_ids.length !== 1) throw invalid([...at, "env_id"], "must name one environment: it makes one run each time");
  return body;
}

function evalsOf(table: JsonObject, at: FieldIssue["loc"]): ReturnType<typeof postedEvals>["evals"] {
  try {
    return postedEvals({ eval: [table] }, 1).evals;
  } catch (error) {
    if (!(error instanceof PlanProblems)) throw error;
    throw new InvalidRequest(error.problems.map(({ key, msg }) => ({ loc: [...at, key].filter((part) => part !== ""), msg })));
  }
}
