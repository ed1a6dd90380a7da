import { type Env, isLocal } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { registryStub, runStub } from "../../durable-objects/stubs.ts";
import { WATCHDOG_RUNS } from "../limits.ts";
import { steadyNow } from "../steady-clock.ts";
import { teamsInTurn } from "./team-turns.ts";
import { runName, teamField } from "../teams/team-name.ts";

/** Runs poked at once: each is one request to one object. */
const AT_ONCE = 20;
const NO_LIMIT = 1_000_000_000;

/**
 * Pokes active runs, so that a lost alarm, message or executor costs a minute and not the run; where there are more than `most`, the next
 * ones each time, so that each has its turn. One that fails is logged, and tried again in its next turn.
 */
export async function pokeActiveRuns(env: Env, most: number = isLocal(env) ? NO_LIMIT : WATCHDOG_RUNS): Promise<void> {
  const waiting: string[] = [];
  const teams = await teamsInTurn(env, steadyNow());
  for (const [at, team] of teams.entries()) {
    // What one team leaves of its share is the next ones'.
    const share = Math.ceil((most - waiting.length) / (teams.length - at));
    if (share > 0) waiting.push(...(await runsInTurn(env, team, share)));
  }
  const pokeNext = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await poke(env, id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, pokeNext));
}

/** Names of runs. A team that cannot be asked is logged, and asked in the next minute. */
async function runsInTurn(env: Env, team: string, most: number): Promise<readonly string[]> {
  try {
    return (await registryStub(env, team).turn(most)).map((run_id) => runName({ run_id, ...teamField(team) }));
  } catch (thrown) {
    console.warn(`watchdog: team ${team}: ${failureOf(thrown).message}`);
    return [];
  }
}

/** `runName`: as the Dispatcher knows it. */
export async function poke(env: Env, name: string): Promise<void> {
  try {
    await runStub(env, name).poke();
  } catch (thrown) {
    console.warn(`watchdog: run ${name}: ${failureOf(thrown).message}`);
  }
}
