import { scheduleIndexStub, scheduleStub } from "../../durable-objects/stubs.ts";
import { type Env, keepsSchedules } from "../env.ts";
import { WATCHDOG_RUNS } from "../limits.ts";
import { pokeOverdue } from "./overdue.ts";

/** Pokes schedules whose time has come, so that a lost alarm costs a minute and not the due time. */
export async function pokeSchedules(env: Env, most: number = WATCHDOG_RUNS): Promise<void> {
  if ((env as Partial<Env>).SCHEDULE === undefined || !keepsSchedules(env)) return;
  const schedules = {
    kind: "schedule",
    overdue: async (team: string, before: number, left: number) => (await scheduleIndexStub(env, team).dueSchedules(before, left)).map((name) => ({ name })),
    poke: async (team: string, { name }: { readonly name: string }) => scheduleStub(env, team, name)?.poke(),
    forget: (team: string, { name }: { readonly name: string }) => scheduleIndexStub(env, team).forgetSchedule({ name, deleted: false }),
  };
  await pokeOverdue(env, schedules, most);
}
