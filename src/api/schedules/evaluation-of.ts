import type { JsonObject } from "../../config/plan/run-config.ts";
import { DATE, dated } from "../../schedules/dated-names.ts";
import type { Order } from "../../schedules/state.ts";
import { bodyOfTable } from "../creation/table-body.ts";
import type { CreateBody } from "../schemas.ts";

/** The creation that a schedule's table comes to on a day. */

type Evaluation = Order["definition"];

/** `name`: of the schedule. Throws `InvalidRequest` with everything that is wrong, at the keys of the table. */
export function evaluationOf(name: string, { eval: table, time_zone, run_name = `${name} ${DATE}` }: Evaluation, due: number): CreateBody {
  const { env_args } = table;
  const named: JsonObject = env_args === undefined ? table : { ...table, env_args: dated(env_args, due, time_zone) };
  return bodyOfTable(named, dated(run_name, due, time_zone), ["body", "eval"]);
}
