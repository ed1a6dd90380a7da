import type { Order } from "../../schedules/state.ts";
import type { AppPorts } from "../app-ports.ts";
import { isPassing, orderedRun } from "../creation/ordered-run.ts";
import { HUB_OWNER } from "../hub/hub-path.ts";
import type { CreateBody } from "../schemas.ts";
import { evaluationOf } from "./evaluation-of.ts";

/**
 * Creates the run of a due time, through the creation of every run and as the schedule's team, and tells the schedule what came of it. Safe to repeat: the due
 * time is the key of the creation. Nothing happens where the schedule does not want it any more.
 */
export async function beginDue(ports: AppPorts, name: string, due: number): Promise<void> {
  const schedules = ports.schedules;
  if (schedules === null) return;
  const order = await schedules.of(name).order(due);
  if (order === null) return;
  const made = await orderedRun(ports, {
    key: order.key,
    creator: order.creator,
    order,
    by: { what: "schedule", takenOver: "Whoever resumes it runs it from then on: `npx edgewise schedule resume NAME`." },
    maker: { schedule: { name: order.schedule, due_at: order.due, ...(order.pin === null ? {} : { dataset_digest: order.pin.digest }) } },
    body: () => pinned(evaluationOf(order.schedule, order.definition, order.due), order),
  });
  if (made.ok) return schedules.of(name).created({ due, run_id: made.value });
  await schedules.of(name).refused({ due, failure: made.error, passing: isPassing(made.error) });
}

/** With the data of the first run where that was a data set of the team, which may have another revision now. */
function pinned(body: CreateBody, { pin }: Order): CreateBody {
  const { env_args = {} } = body.eval_config;
  const named = typeof env_args.dataset === "string" && env_args.dataset.startsWith(`${HUB_OWNER}/`);
  if (pin?.dataset === undefined || !named) return body;
  const { dataset, dataset_split: _, ...others } = env_args;
  return { ...body, dataset_name: body.dataset_name ?? String(dataset), eval_config: { ...body.eval_config, env_args: { ...others, dataset: pin.dataset } } };
}
