/**
 * One of several processes that want the same state folder: `node cli-lock-contender.ts FOLDER START_AT MODE`. Waits for the moment START_AT
 * (Unix milliseconds), then tries until it has held the lock once. `work` checks that it is alone and releases; `die` kills itself while it holds
 * the lock, as a power cut would. Exit code 0 = held it alone, 3 = somebody else was inside.
 */
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { newLockRecord, tryLock } from "../../../src/cli/state/state-lock.ts";

const [folder = "", startAt = "0", mode = "work"] = process.argv.slice(2);
const inside = join(folder, "inside");

await sleep(Math.max(0, Number(startAt) - Date.now() - 5));
while (Date.now() < Number(startAt));

const mine = newLockRecord("contender");
for (const deadline = Date.now() + 15_000; ; await sleep(2)) {
  if (Date.now() > deadline) process.exit(4);
  const answer = await tryLock(folder, mine);
  if (answer.kind !== "mine") continue;
  if (mode === "die") process.kill(process.pid, "SIGKILL");
  try {
    writeFileSync(inside, String(process.pid), { flag: "wx" });
  } catch {
    process.exit(3);
  }
  await sleep(20);
  rmSync(inside);
  answer.lock.release();
  process.exit(0);
}
