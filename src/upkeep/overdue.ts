import { type Env, isLocal } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { steadyNow } from "../steady-clock.ts";
import { teamsInTurn } from "./team-turns.ts";

/** Objects poked at once. */
const AT_ONCE = 20;
/** Deployed an alarm has its time: within it nobody else begins what it is about to begin. */
const GRACE_MS = 15_000;

/** Objects of one kind that wake by their own alarms, as the watchdog behind those knows them. */
export interface Sleepers<Named extends { readonly name: string }> {
  /** What they are, in logs. */
  readonly kind: string;
  /** Those that were to be woken before `before` (Unix milliseconds), at most `most`, the longest overdue first. */
  overdue(team: string, before: number, most: number): Promise<readonly Named[]>;
  /** False: there is none. */
  poke(team: string, named: Named): Promise<boolean | undefined>;
  forget(team: string, named: Named): Promise<void>;
}

/**
 * Pokes those whose time has come, so that a lost alarm costs a minute; at most `most` in each minute, the longest overdue first. One that was reserved and
 * never made is forgotten. One that fails is logged, and met again.
 */
export async function pokeOverdue<Named extends { readonly name: string }>(env: Env, sleepers: Sleepers<Named>, most: number): Promise<void> {
  const before = Date.now() - (isLocal(env) ? 0 : GRACE_MS);
  let left = most;
  for (const team of await teamsInTurn(env, steadyNow())) {
    if (left <= 0) return;
    try {
      const waiting = [...(await sleepers.overdue(team, before, left))];
      left -= waiting.length;
      const pokeNext = async (): Promise<void> => {
        for (let named = waiting.pop(); named !== undefined; named = waiting.pop()) await poke(sleepers, team, named);
      };
      await Promise.all(Array.from({ length: AT_ONCE }, pokeNext));
    } catch (thrown) {
      console.warn(`${sleepers.kind}s: team ${team}: ${failureOf(thrown).message}`);
    }
  }
}

async function poke<Named extends { readonly name: string }>(sleepers: Sleepers<Named>, team: string, named: Named): Promise<void> {
  try {
    if ((await sleepers.poke(team, named)) === false) await sleepers.forget(team, named);
  } catch (thrown) {
    console.warn(`${sleepers.kind} ${team}/${named.name}: ${failureOf(thrown).message}`);
  }
}
