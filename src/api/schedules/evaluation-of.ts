import { postedEvals } from "../../config/plan/posted-plan.ts";
import { PlanProblems } from "../../config/plan/plan-problems.ts";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { DATE, dated } from "../../schedules/dated-names.ts";
import type { Order } from "../../schedules/state.ts";
import { check } from "../body.ts";
import { InvalidRequest, invalid } from "../errors.ts";
import { type CreateBody, createBody } from "../schemas.ts";

/** The creation that a schedule's table comes to on a day: the table of a config file, by the reader of those. */

type Evaluation = Order["definition"];

/** `name`: of the schedule. Throws `InvalidRequest` with everything that is wrong, at the keys of the table. */
export function evaluationOf(name: string, { eval: table, time_zone, run_name = `${name} ${DATE}` }: Evaluation, due: number): CreateBody {
  const { env_args } = table;
  const named: JsonObject = env_args === undefined ? table : { ...table, env_args: dated(env_args, due, time_zone) };
  const [planned] = evalsOf(named);
  if (planned === undefined) throw invalid(["body", "eval"], "asks for no evaluation");
  const body = check(createBody, { ...planned.body, name: dated(run_name, due, time_zone) }, "body");
  if (body.eval_config.custom_secrets !== undefined)
    throw invalid(["body", "eval", "custom_secrets"], "are of one run, and are not kept: keep a secret of the team (`npx edgewise secret create`)");
  if (body.environment_ids.length !== 1) throw invalid(["body", "eval", "env_id"], "must name one environment: each due time makes one run");
  return body;
}

function evalsOf(table: JsonObject): ReturnType<typeof postedEvals>["evals"] {
  try {
    return postedEvals({ eval: [table] }, 1).evals;
  } catch (error) {
    if (!(error instanceof PlanProblems)) throw error;
    throw new InvalidRequest(error.problems.map(({ key, msg }) => ({ loc: ["body", "eval", key].filter((part) => part !== ""), msg })));
  }
}
