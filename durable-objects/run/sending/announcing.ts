import type { Occurrence } from "../../../src/alerts/occurrence.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { wallOf } from "../../../src/config/plan/walls.ts";
import type { Env } from "../../../src/env.ts";
import { failureOf } from "../../../src/errors/result.ts";
import { DEFAULT_TEAM, runName } from "../../../src/teams/team-name.ts";
import { tellAlerts } from "../../alert-book/tell-alerts.ts";
import { dispatcherStub, registryStub } from "../../stubs.ts";
import type { RunView } from "../control.ts";
import { projectionOf } from "../reading/view.ts";
import { sendHubPushTask } from "./hub-push-task.ts";
import type { Outbox } from "./outbox.ts";

/** What the run is told of what was sent. */
export interface Announced {
  view(): RunView | null;
  offered(seq: number): void;
  projected(version: number): void;
  alertsTold(ids: readonly string[]): void;
  projectedAndTold(version: number, ids: readonly string[]): void;
}

/** Sends what is due; what is not acknowledged is sent again by the alarm. */
export async function announce(env: Env, config: RunConfig, outbox: Outbox, run: Announced): Promise<void> {
  // Before the projection, after which nobody looks at a run that has settled.
  let told = outbox.alerts === undefined ? [] : await tell(env, config, outbox.alerts);
  const name = runName(config);
  try {
    if (outbox.offer !== null) {
      const wall = wallOf(config);
      await dispatcherStub(env).offer({ run: name, weight: 1, ...(wall === undefined ? {} : { wall }), ...outbox.offer });
      run.offered(outbox.offer.seq);
    }
    if (outbox.projection !== null) {
      const view = run.view();
      if (view !== null) await registryStub(env, config.team).project(projectionOf(view, outbox.projection));
      if (told.length === 0) run.projected(outbox.projection);
      else run.projectedAndTold(outbox.projection, told);
      told = [];
    }
    if (outbox.push === true) await sendHubPushTask(env, name);
  } catch (thrown) {
    console.warn(`run ${name}: announcement not delivered, the alarm repeats it: ${failureOf(thrown).message}`);
  }
  if (told.length > 0) run.alertsTold(told);
}

/** Ids of what was taken. */
async function tell(env: Env, config: RunConfig, occurrences: readonly Occurrence[]): Promise<readonly string[]> {
  try {
    await tellAlerts(env, config.team ?? DEFAULT_TEAM, occurrences);
    return occurrences.map(({ id }) => id);
  } catch (thrown) {
    console.warn(`run ${runName(config)}: alerts not told, the alarm repeats it: ${failureOf(thrown).message}`);
    return [];
  }
}

/** Whether there is anything of it to be sent but a heartbeat. */
export const hasAnnouncements = ({ offer, projection, push, alerts }: Outbox): boolean =>
  offer !== null || projection !== null || push === true || alerts !== undefined;
