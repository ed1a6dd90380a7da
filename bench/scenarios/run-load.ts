import { startWithDeployedNumbers } from "../deployed-numbers.ts";
import type { Answered, Load } from "../load/load.ts";
import { loadWorker } from "../load/bundled-load.ts";
import type { Measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const UNITS = 1_000_000;
/** Units of a commit: five lanes and a model of a second, written every five seconds. */
const BATCH = 25;
const MS = 8_000;
/** At the platform's own maximum of consumers, and what a small run has. */
const EXECUTORS = [5, 250] as const;

/** How many calls of executors one Run answers in a second, with few and with all executors that a queue can have, and a million units. */
export const runLoad: Scenario = async (places) => {
  const script = await loadWorker();
  const measures: Measure[] = [];
  const rates: number[] = [];
  for (const executors of EXECUTORS) {
    const service = await startWithDeployedNumbers(places(`run-load-${executors}`).state, 0, { script });
    try {
      const load: Load = { executors, units: UNITS, batch: BATCH, ms: MS, look: false };
      const answer = await fetch(service.url, { method: "POST", body: JSON.stringify(load) });
      if (!answer.ok) throw new Error(`${executors} executors: ${(await answer.text()).slice(0, 500)}`);
      const { calls, ms } = (await answer.json()) as Answered;
      rates.push((calls * 1_000) / ms);
      measures.push({ scenario: "run-load", name: `calls a second, ${executors} executors`, value: (calls * 1_000) / ms, unit: "calls/s" });
      measures.push({ scenario: "run-load", name: `a call, ${executors} executors`, value: ms / calls, unit: "ms" });
    } finally {
      await service.close();
    }
  }
  measures.push(...(await lookedThrough(script, places("run-load-look").state)));
  const [few = Number.NaN, many = Number.NaN] = rates;
  return [...measures, { scenario: "run-load", name: "calls at 250 executors to those at 5", value: many / few, unit: "ratio", target: { at_least: 0.5 } }];
};

/** What it costs others when a run of a million done units is looked through. */
async function lookedThrough(script: string, state: string): Promise<Measure[]> {
  const service = await startWithDeployedNumbers(state, 0, { script });
  try {
    const load: Load = { executors: 8, units: UNITS, batch: 4_000, ms: 300_000, look: true };
    const answer = await fetch(service.url, { method: "POST", body: JSON.stringify(load) });
    if (!answer.ok) throw new Error(`looking through: ${(await answer.text()).slice(0, 500)}`);
    const { units, look } = (await answer.json()) as Answered;
    return [
      { scenario: "run-load", name: `metadata of ${units} units`, value: look?.ms ?? Number.NaN, unit: "ms" },
      { scenario: "run-load", name: "longest wait of another call meanwhile", value: look?.longest_wait_ms ?? Number.NaN, unit: "ms" },
    ];
  } finally {
    await service.close();
  }
}
