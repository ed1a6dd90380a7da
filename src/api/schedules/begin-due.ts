import { canonicalJson } from "../../config/canonical-json.ts";
import { sha256Hex } from "../../config/sha256.ts";
import type { ErrorCode } from "../../errors/codes.ts";
import { EdgewiseError, type Failure, fail, failureOf, ok, type Result } from "../../errors/result.ts";
import type { Creator, Order } from "../../schedules/state.ts";
import type { TokenUse } from "../../teams/admission.ts";
import { allows } from "../../teams/scopes.ts";
import { tokenUseOf } from "../../teams/caller.ts";
import type { AppPorts } from "../app-ports.ts";
import { createRuns } from "../creation/create-runs.ts";
import { expectedFailure, logUnexpected, refused } from "../errors.ts";
import { HUB_OWNER } from "../hub/hub-path.ts";
import type { CreateBody } from "../schemas.ts";
import { evaluationOf } from "./evaluation-of.ts";

/** What may be otherwise in a while; anything else would be refused the next time as well. */
const PASSING: readonly ErrorCode[] = ["limit_reached", "storage_unavailable", "internal"];

/**
 * Creates the run of a due time, through the creation of every run and as the schedule's team, and tells the schedule what came of it. Safe to repeat: the due
 * time is the key of the creation. Nothing happens where the schedule does not want it any more.
 */
export async function beginDue(ports: AppPorts, name: string, due: number): Promise<void> {
  const schedules = ports.schedules;
  if (schedules === null) return;
  const order = await schedules.of(name).order(due);
  if (order === null) return;
  const made = await creation(ports, order);
  if (made.ok) return schedules.of(name).created({ due, run_id: made.value });
  await schedules.of(name).refused({ due, failure: made.error, passing: PASSING.includes(made.error.code) });
}

async function creation(ports: AppPorts, order: Order): Promise<Result<string>> {
  try {
    const token = await standing(ports, order.creator);
    const [run] = await createRuns(ports, {
      parts: [{ body: pinned(evaluationOf(order.schedule, order.definition, order.due), order), place: null }],
      idempotencyKey: order.key,
      bodyDigest: await sha256Hex(canonicalJson(order as never)),
      attended: false,
      token,
      schedule: { name: order.schedule, due_at: order.due, ...(order.pin === null ? {} : { dataset_digest: order.pin.digest }) },
    });
    return run === undefined ? fail("internal", "No run was created.") : ok(run);
  } catch (thrown) {
    return { ok: false, error: failureBehind(thrown) };
  }
}

function failureBehind(thrown: unknown): Failure {
  const failure = expectedFailure(thrown);
  if (failure !== null) return failure;
  logUnexpected("schedule", thrown);
  return failureOf(new EdgewiseError("internal", "The run could not be created; the service's log has the cause."));
}

/** Whoever made the schedule may still make runs. Throws `forbidden` where they may not. */
async function standing(ports: AppPorts, { user, token, owner }: Creator): Promise<TokenUse | null> {
  if (owner) return null;
  const holder = await ports.directory?.holder({ user, token });
  if (holder?.teams.includes(ports.team) && allows(holder.scopes, "runs:write")) return tokenUseOf(holder);
  const lost = token === null ? `${user} is in the team no more, or may make no runs` : `the token ${token} of ${user} is revoked or over, or may make no runs`;
  throw refused({
    code: "forbidden",
    message: `The schedule runs as who made it, and ${lost}.`,
    hint: "Whoever resumes it runs it from then on: `npx edgewise schedule resume NAME`.",
  });
}

/** With the data of the first run where that was a data set of the team, which may have another revision now. */
function pinned(body: CreateBody, { pin }: Order): CreateBody {
  const { env_args = {} } = body.eval_config;
  const named = typeof env_args.dataset === "string" && env_args.dataset.startsWith(`${HUB_OWNER}/`);
  if (pin?.dataset === undefined || !named) return body;
  const { dataset, dataset_split: _, ...others } = env_args;
  return { ...body, dataset_name: body.dataset_name ?? String(dataset), eval_config: { ...body.eval_config, env_args: { ...others, dataset: pin.dataset } } };
}
