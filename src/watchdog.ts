import type { Env } from "./env.ts";
import { failureOf } from "./errors/result.ts";
import { registryStub, runStub } from "../durable-objects/stubs.ts";

const PAGE = 500;
/** Runs poked at once: each is one request to one object. */
const AT_ONCE = 20;

/** Pokes every active run, so that a lost alarm, message or executor costs a minute and not the run. One that fails is logged; the next minute tries again. */
export async function pokeActiveRuns(env: Env): Promise<void> {
  for (let after = ""; ; ) {
    const page = await registryStub(env).active(after, PAGE);
    const last = page.at(-1);
    if (last === undefined) return;
    after = last;
    const waiting = [...page];
    const pokeNext = async (): Promise<void> => {
      for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) await poke(env, id);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, pokeNext));
  }
}

export async function poke(env: Env, runId: string): Promise<void> {
  try {
    await runStub(env, runId).poke();
  } catch (thrown) {
    console.warn(`watchdog: run ${runId}: ${failureOf(thrown).message}`);
  }
}
