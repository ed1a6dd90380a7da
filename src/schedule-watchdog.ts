import { scheduleIndexStub, scheduleStub } from "../durable-objects/stubs.ts";
import { type Env, isLocal, keepsSchedules } from "./env.ts";
import { failureOf } from "./errors/result.ts";
import { WATCHDOG_RUNS } from "./limits.ts";
import { steadyNow } from "./steady-clock.ts";
import { teamsInTurn } from "./team-turns.ts";

/** Schedules poked at once. */
const AT_ONCE = 20;
/** Deployed an alarm has its time: within it nobody else begins what it is about to begin. */
const GRACE_MS = 15_000;

/**
 * Pokes schedules whose time has come, so that a lost alarm costs a minute and not the due time; at most `most` in each minute, the longest overdue first. One that was reserved and never
 * made is forgotten. One that fails is logged, and met again.
 */
export async function pokeSchedules(env: Env, most: number = WATCHDOG_RUNS): Promise<void> {
  if ((env as Partial<Env>).SCHEDULE === undefined || !keepsSchedules(env)) return;
  const before = Date.now() - (isLocal(env) ? 0 : GRACE_MS);
  let left = most;
  for (const team of await teamsInTurn(env, steadyNow())) {
    if (left <= 0) return;
    try {
      const waiting = [...(await scheduleIndexStub(env, team).dueSchedules(before, left))];
      left -= waiting.length;
      const pokeNext = async (): Promise<void> => {
        for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) await poke(env, team, name);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, pokeNext));
    } catch (thrown) {
      console.warn(`schedules: team ${team}: ${failureOf(thrown).message}`);
    }
  }
}

async function poke(env: Env, team: string, name: string): Promise<void> {
  try {
    const there = await scheduleStub(env, team, name)?.poke();
    if (there === false) await scheduleIndexStub(env, team).forgetSchedule({ name, deleted: false });
  } catch (thrown) {
    console.warn(`schedule ${team}/${name}: ${failureOf(thrown).message}`);
  }
}
