import type { Context } from "hono";
import type { Resumed, ResumeRequest, RunView } from "../../../durable-objects/run/control.ts";
import { ok, type Result } from "../../errors/result.ts";
import { loweredText } from "../../teams/admission.ts";
import { tokenUseOf } from "../../teams/caller.ts";
import { teamField } from "../../teams/team-name.ts";
import type { AppContext } from "../app-context.ts";
import { logUnexpected } from "../errors.ts";
import { unlessOlder } from "../older-object.ts";
import { runIdOf, runOf } from "./run-of.ts";

/**
 * Resumes a run within the limits of its team and of the token that asks: it counts from before it begins, and one that is refused is as it was. `calls`: whether
 * it would ask a model anything; a resume that only prints its report needs no room.
 */
export async function resumedWithin(c: Context<AppContext>, view: RunView, request: ResumeRequest, calls: boolean): Promise<Result<Resumed>> {
  const { caller, ports } = c.var;
  const rests = view.phase === "settled" || view.suspended;
  if (!calls || !rests) return runOf(c).resume(request);
  const run_id = runIdOf(c);
  const wanted = request.max_concurrent ?? view.config.max_concurrent;
  const admission = { run_id, rollouts: wanted, token: tokenUseOf(caller), now: ports.now(), ...teamField(ports.team) };
  const admitted = await unlessOlder(ports.registry.admitResume(admission), ok(wanted));
  if (!admitted.ok) return admitted;
  const granted = admitted.value;
  const resumed = await runOf(c).resume(granted === wanted ? request : { ...request, max_concurrent: granted });
  if (!resumed.ok || resumed.value.owed_rollouts === 0) {
    // Its own word of it, or a minute, ends it anyway.
    await ports.registry.withdrawResume(run_id).catch((error: unknown) => logUnexpected("a resume that did not begin", error));
    return resumed;
  }
  if (granted === wanted) return resumed;
  return { ok: true, value: { ...resumed.value, warnings: [...resumed.value.warnings, loweredText(granted, wanted)] } };
}
