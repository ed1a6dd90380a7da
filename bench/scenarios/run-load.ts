import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { startWithDeployedNumbers } from "../deployed-numbers.ts";
import type { Answered, Load } from "../load/load.ts";
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
  const script = await bundled();
  const measures: Measure[] = [];
  const rates: number[] = [];
  for (const executors of EXECUTORS) {
    const service = await startWithDeployedNumbers(places(`run-load-${executors}`).state, 0, script);
    try {
      const load: Load = { executors, units: UNITS, batch: BATCH, ms: MS };
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
  const [few = Number.NaN, many = Number.NaN] = rates;
  return [...measures, { scenario: "run-load", name: "calls at 250 executors to those at 5", value: many / few, unit: "ratio", target: { at_least: 0.5 } }];
};

async function bundled(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL("../load/run-load-worker.ts", import.meta.url))],
    ...{ bundle: true, format: "esm", write: false, target: "es2024", platform: "browser", keepNames: true, logLevel: "warning" },
    conditions: ["workerd", "worker", "browser"],
    external: ["cloudflare:*", "node:*"],
    define: { EDGEWISE_VERSION: '"bench"', EDGEWISE_CODE: "null", "process.env.NODE_ENV": '"production"' },
  });
  return outputFiles[0]?.text ?? "";
}
