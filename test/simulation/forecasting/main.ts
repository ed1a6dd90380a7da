/** `node test/simulation/forecasting/main.ts`: how often each method's interval held, and how far its upper end was, as docs/decisions/forecast-intervals.md has it. */
import { sumOf } from "../../../src/forecast/predicted-sum.ts";
import { seededRandom } from "../../../src/seeded-random.ts";
import { agent, logNormal, twoHumps } from "./costs.ts";
import { METHODS } from "./methods.ts";

const RUNS = 1000;
const TOTAL = 500;
const CASES = [
  { pilot: 10, name: "10: log-normal, spread 0.2", draw: logNormal(0.2) },
  { pilot: 10, name: "spread 1", draw: logNormal(1) },
  { pilot: 10, name: "spread 1.3", draw: logNormal(1.3) },
  { pilot: 10, name: "spread 1.6", draw: logNormal(1.6) },
  { pilot: 10, name: "30 % twenty times as dear", draw: twoHumps(0.3, 20) },
  { pilot: 10, name: "agent", draw: agent },
  { pilot: 20, name: "20: spread 0.2", draw: logNormal(0.2) },
  { pilot: 20, name: "spread 1.3", draw: logNormal(1.3) },
  { pilot: 20, name: "spread 1.6", draw: logNormal(1.6) },
  { pilot: 20, name: "agent", draw: agent },
  { pilot: 10, name: "10: 10 % ten times as dear", draw: twoHumps(0.1, 10) },
  { pilot: 20, name: "20", draw: twoHumps(0.1, 10) },
  { pilot: 40, name: "40", draw: twoHumps(0.1, 10) },
  { pilot: 40, name: "40: spread 0.2", draw: logNormal(0.2) },
];

console.log(`| method | ${CASES.map(({ name }) => name).join(" | ")} |`);
console.log(`| --- |${" --- |".repeat(CASES.length)}`);
for (const [name, method] of Object.entries(METHODS)) {
  const cells = CASES.map(({ pilot, draw }) => {
    const random = seededRandom(7 + pilot);
    let held = 0;
    const above: number[] = [];
    for (let run = 0; run < RUNS; run += 1) {
      const values = Array.from({ length: pilot }, () => draw(random));
      const rest = sumOf(Array.from({ length: TOTAL - pilot }, () => draw(random)));
      const [low, high] = method(values, TOTAL - pilot, run);
      const spent = sumOf(values);
      if (rest >= low && rest <= high) held += 1;
      above.push((spent + high) / (spent + rest));
    }
    above.sort((a, b) => a - b);
    const at = (share: number): string => (above[Math.floor(share * RUNS)] ?? Number.NaN).toPrecision(2);
    return `${Math.round((100 * held) / RUNS)} (${at(0.5)} / ${at(0.95)})`;
  });
  console.log(`| ${name} | ${cells.join(" | ")} |`);
}
