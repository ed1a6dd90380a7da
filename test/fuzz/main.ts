import { writeSync } from "node:fs";
import { isMainThread, Worker, workerData } from "node:worker_threads";
import { fuzz, HANG_MS } from "./fuzz.ts";

/** `npm run fuzz [-- CASES [FIRST_SEED]]`: plays cases and prints the seed of the first that breaks something. */
async function main(): Promise<void> {
  const cases = Number(process.argv[2] ?? 100_000);
  const first = Number(process.argv[3] ?? 1);
  if (!Number.isInteger(cases) || cases < 1 || !Number.isInteger(first) || first < 0) {
    console.error("usage: npm run fuzz [-- CASES [FIRST_SEED]]   both whole numbers, CASES at least 1");
    process.exit(2);
  }
  const played = new Int32Array(new SharedArrayBuffer(4));
  // A case that never ends cannot say so itself.
  new Worker(new URL(import.meta.url), { workerData: played }).unref();
  const started = performance.now();
  const seconds = (): number => Math.round((performance.now() - started) / 1_000);
  let longest = 0;
  let most = 0;
  for (let seed = first; seed < first + cases; seed++) {
    Atomics.store(played, 0, seed);
    const before = performance.now();
    const failure = await fuzz(seed);
    longest = Math.max(longest, performance.now() - before);
    most = Math.max(most, process.memoryUsage().rss);
    if (failure !== null) fail(failure, seed);
    if ((seed - first + 1) % 10_000 === 0) console.log(`${seed - first + 1} cases, ${seconds()} s`);
  }
  console.log(`${cases} cases, nothing broken (${seconds()} s; the longest ${Math.round(longest)} ms, at most ${Math.round(most / 2 ** 20)} MiB)`);
  process.exit(0);
}

function fail(failure: string, seed: number): never {
  console.error(`FAILED ${failure}\nReplay it alone with: npm run fuzz -- 1 ${seed}`);
  process.exit(1);
}

function watch(played: Int32Array): void {
  let known = -1;
  setInterval(() => {
    const seed = Atomics.load(played, 0);
    // A thread beside one that is stuck can neither print by way of it nor end it in order.
    if (seed === known) {
      writeSync(2, `FAILED seed ${seed}: hangs\nReplay it alone with: npm run fuzz -- 1 ${seed}\n`);
      process.kill(process.pid, "SIGKILL");
    }
    known = seed;
  }, 6 * HANG_MS);
}

if (isMainThread) await main();
else watch(workerData as Int32Array);
