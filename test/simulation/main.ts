import { FLEETS, playFleet } from "./full-fleet.ts";
import { brokenByKills, brokenIn, seedsFrom } from "./limiting/hostile-plays.ts";
import { table } from "./limiting/targets.ts";
import { simulate } from "./simulate.ts";

/** `npm run simulate [-- SCHEDULES [FIRST_SEED]]`: plays schedules and prints the seed of the first that breaks an invariant; then a full fleet, and limits that runs share (the table of providers prints what is missed, and fails nothing). */
const schedules = Number(process.argv[2] ?? 100_000);
const first = Number(process.argv[3] ?? 1);
if (!Number.isInteger(schedules) || schedules < 0 || !Number.isInteger(first) || first < 0) {
  console.error("usage: npm run simulate [-- SCHEDULES [FIRST_SEED]]   both whole numbers, SCHEDULES may be 0");
  process.exit(2);
}
const started = performance.now();
for (let seed = first; seed < first + schedules; seed++) {
  const failure = simulate(seed);
  if (failure !== null) {
    console.error(`FAILED ${failure}\nReplay it alone with: npm run simulate -- 1 ${seed}`);
    process.exit(1);
  }
  if ((seed - first + 1) % 10_000 === 0) console.log(`${seed - first + 1} schedules, ${Math.round((performance.now() - started) / 1000)} s`);
}
for (const [name, fleet] of Object.entries(FLEETS)) {
  const played = playFleet(first, fleet);
  if (typeof played === "string") {
    console.error(`FAILED ${played}`);
    process.exit(1);
  }
  console.log(`a full fleet, ${name}: ${(100 * played.used).toFixed(1)} % is used, and no run had nothing for more than ${Math.ceil(played.waited / 1_000)} s`);
}
/** One schedule of a shared limit takes as long as hundreds of those above. */
const shared = Math.floor(schedules / 500);
const kills = shared === 0 ? { steps: 0, broken: [] } : await brokenByKills();
for (const failure of [...kills.broken, ...(await brokenIn(seedsFrom(first, shared)))]) {
  console.error(`FAILED ${failure}`);
  process.exitCode = 1;
}
console.log(`limits that runs share: killed at ${kills.steps} steps, ${shared} schedules`);
if (shared > 0) console.log(`${await table((line) => console.log(line))} targets are missed`);
console.log(`${schedules} schedules, no invariant broken (${Math.round((performance.now() - started) / 1000)} s)`);
// Clients keep a timer of an hour for each place.
process.exit();
