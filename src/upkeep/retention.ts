import { registryStub, runStub } from "../../durable-objects/stubs.ts";
import { type Env, isLocal } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { steadyNow } from "../steady-clock.ts";
import { teamsInTurn } from "./team-turns.ts";
import { runName, teamField } from "../teams/team-name.ts";

/** Runs that one invocation removes, and gives notice to as many: each removal is a call, and an object that goes on by itself. */
const MOST = { local: 1_000, deployed: 200 };
const AT_ONCE = 20;

/**
 * Removes settled runs that are older than their team keeps them, and gives notices before, a bounded number in each minute. A run that cannot be removed, since it was
 * resumed meanwhile or cannot be asked, is logged and met again.
 */
export async function removeExpired(env: Env, most: number = isLocal(env) ? MOST.local : MOST.deployed): Promise<void> {
  let left = most;
  for (const team of await teamsInTurn(env, steadyNow())) {
    if (left === 0) return;
    try {
      const runs = await registryStub(env, team).retain({ ...teamField(team), most: left });
      left -= runs.length;
      for (let at = 0; at < runs.length; at += AT_ONCE)
        await Promise.all(runs.slice(at, at + AT_ONCE).map((run_id) => remove(env, runName({ run_id, ...teamField(team) }))));
    } catch (thrown) {
      console.warn(`retention: team ${team}: ${failureOf(thrown).message}`);
    }
  }
}

async function remove(env: Env, name: string): Promise<void> {
  try {
    const removed = await runStub(env, name).remove();
    if (!removed.ok) console.warn(`retention: run ${name}: ${removed.error.message}`);
  } catch (thrown) {
    console.warn(`retention: run ${name}: ${failureOf(thrown).message}`);
  }
}
