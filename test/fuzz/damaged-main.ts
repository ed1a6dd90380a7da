import { DamagedServices } from "./damaged-services.ts";

/** `npm run fuzz:state [-- CASES [FIRST_SEED]]`: the built command on states with bytes flipped and cut, a few seconds a case. */
const cases = Number(process.argv[2] ?? 100);
const first = Number(process.argv[3] ?? 1);
if (!Number.isInteger(cases) || cases < 1 || !Number.isInteger(first) || first < 0) {
  console.error("usage: npm run fuzz:state [-- CASES [FIRST_SEED]]   both whole numbers, CASES at least 1");
  process.exit(2);
}
const services = await DamagedServices.make();
let failed = 0;
try {
  for (let seed = first; seed < first + cases; seed++) {
    const started = performance.now();
    const said = await services.play(seed).catch((error: Error) => {
      failed += 1;
      return `FAILED ${error.message}`;
    });
    console.log(`seed ${seed}, ${Math.round(performance.now() - started)} ms: ${said}`);
  }
} finally {
  await services.close();
}
console.log(`${cases} cases, ${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
