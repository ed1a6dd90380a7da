import { monitorIndexStub, monitorStub } from "../../durable-objects/stubs.ts";
import { type Env, keepsSchedules } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { WATCHDOG_RUNS } from "../limits.ts";
import { pokeOverdue } from "./overdue.ts";

interface Named {
  readonly name: string;
  readonly id: string;
}

/** Says that the service is there, and pokes monitors whose time has come, so that a lost alarm costs a minute and not the alert. */
export async function pokeMonitors(env: Env, most: number = WATCHDOG_RUNS): Promise<void> {
  if ((env as Partial<Env>).MONITOR === undefined || !keepsSchedules(env)) return;
  try {
    await monitorIndexStub(env).notePulse();
  } catch (thrown) {
    console.warn(`monitors: the service's pulse is not noted: ${failureOf(thrown).message}`);
  }
  const monitors = {
    kind: "monitor",
    overdue: (team: string, before: number, left: number) => monitorIndexStub(env, team).dueMonitors(before, left),
    poke: async (_team: string, { id }: Named) => monitorStub(env, id)?.poke(),
    forget: (team: string, { name, id }: Named) => monitorIndexStub(env, team).forgetMonitor({ name, id, deleted: false }),
  };
  await pokeOverdue(env, monitors, most);
}
