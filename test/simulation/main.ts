import { LEAST_USED, SATURATED, utilisationOf } from "./full-fleet.ts";
import { simulate } from "./simulate.ts";

/** `npm run simulate [-- SCHEDULES [FIRST_SEED]]`: plays schedules and prints the seed of the first that breaks an invariant; then a full fleet, and what cleans up. */
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
const used = utilisationOf(first, SATURATED);
if (used < LEAST_USED) {
  console.error(`FAILED seed ${first} at ${SATURATED.length} ms: invariant: ${(100 * used).toFixed(1)} % of a full fleet is used`);
  process.exit(1);
}
console.log(`${(100 * used).toFixed(1)} % of a full fleet is used`);
console.log(`${schedules} schedules, no invariant broken (${Math.round((performance.now() - started) / 1000)} s)`);
