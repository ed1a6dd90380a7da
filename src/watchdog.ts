import { type Env, isLocal } from "./env.ts";
import { failureOf } from "./errors/result.ts";
import { registryStub, runStub } from "../durable-objects/stubs.ts";
import { WATCHDOG_RUNS } from "./limits.ts";

/** Runs poked at once: each is one request to one object. */
const AT_ONCE = 20;
const NO_LIMIT = 1_000_000_000;

/**
 * Pokes active runs, so that a lost alarm, message or executor costs a minute and not the run; where there are more than `most`, the next
 * ones each time, so that each has its turn. One that fails is logged, and tried again in its next turn.
 */
export async function pokeActiveRuns(env: Env, most: number = isLocal(env) ? NO_LIMIT : WATCHDOG_RUNS): Promise<void> {
  const waiting = [...(await registryStub(env).turn(most))];
  const pokeNext = async (): Promise<void> => {
    for (let id = waiting.pop(); id !== undefined; id = waiting.pop()) await poke(env, id);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, pokeNext));
}

export async function poke(env: Env, runId: string): Promise<void> {
  try {
    await runStub(env, runId).poke();
  } catch (thrown) {
    console.warn(`watchdog: run ${runId}: ${failureOf(thrown).message}`);
  }
}
