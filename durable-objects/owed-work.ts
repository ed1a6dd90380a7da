import { failureOf } from "../src/errors/result.ts";

/** What an object owes to somebody outside and could not do is tried again after this. */
const AGAIN_MS = 30_000;

/** Who owes, for the log, and whether its alarm may be set: where nobody stays, no alarm is. */
export interface Debtor {
  readonly name: string;
  readonly storage: DurableObjectStorage;
  readonly wakes: boolean;
}

/** Does one piece of work of which something is written down, so that it can be repeated. What fails is logged, keeps nothing else from being done, and wakes the object later. */
export async function attempt(debtor: Debtor, what: string, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (thrown) {
    await tryAgain(debtor, what, thrown);
  }
}

/** An alarm that is nearer stays. */
export async function tryAgain({ name, storage, wakes }: Debtor, what: string, thrown: unknown): Promise<void> {
  console.warn(`${name}: ${what}: ${failureOf(thrown).message}`);
  if (!wakes) return;
  const at = Date.now() + AGAIN_MS;
  const set = await storage.getAlarm();
  if (set === null || set > at) await storage.setAlarm(at);
}
