import { Random } from "../simulation/world/random.ts";
import { readsAnswer } from "./answers.ts";
import { readsDataset, readsRow } from "./datasets.ts";
import { readsFolder, readsSettings } from "./folders.ts";
import { answersRequest } from "./requests.ts";
import { opensState } from "./states.ts";

/** What may come from outside, each with its share of the cases. Whoever has another source adds it here. */
const SOURCES: readonly (readonly [name: string, share: number, play: (random: Random) => Promise<void>])[] = [
  ["a data set", 3, readsDataset],
  ["a row of a folder", 2, readsRow],
  ["a results folder", 2, readsFolder],
  ["a state folder", 2, opensState],
  ["a settings file", 1, readsSettings],
  ["an answer", 2, readsAnswer],
  ["a request", 3, answersRequest],
];
const DRAWN = SOURCES.flatMap(([name, share, play]) => Array.from({ length: share }, () => ({ name, play })));

/** A case that computes for longer hangs, and so does one that has not ended after six times as long, however many others share the machine. */
export const HANG_MS = 10_000;
/** Bytes that a case may leave, or take, beside what the process had before the first. */
const MAX_BYTES = 1_024 * 1_024 * 1_024;

/** Plays the case of a seed; what is wrong with it, or null. A case is the same on every machine. */
export async function fuzz(seed: number): Promise<string | null> {
  const random = new Random(Math.imul(seed, 0x9e3779b1));
  const { name, play } = random.pick(DRAWN);
  const [started, computed] = [performance.now(), process.cpuUsage()];
  try {
    await play(random);
  } catch (thrown) {
    return `seed ${seed}, ${name}: ${thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)}`;
  }
  const { user, system } = process.cpuUsage(computed);
  const [took, busy] = [performance.now() - started, (user + system) / 1_000];
  if (busy > HANG_MS || took > 6 * HANG_MS) return `seed ${seed}, ${name}: took ${Math.round(took)} ms, ${Math.round(busy)} of them computing`;
  const { rss } = process.memoryUsage();
  return rss > 2 * MAX_BYTES ? `seed ${seed}, ${name}: the process has ${Math.round(rss / 2 ** 20)} MiB` : null;
}
