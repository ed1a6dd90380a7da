import { startWithDeployedNumbers } from "../deployed-numbers.ts";
import { loadWorker } from "../load/bundled-load.ts";
import type { Counted, Priced } from "../load/priced.ts";
import type { Measure } from "../measure.ts";
import { costRow, COST_HEAD, dollarsPerMillion, perThousand, workingDollarsPerMillion } from "../prices.ts";
import type { Scenario } from "../scenario.ts";

const MODEL_MS = [200, 1_000, 5_000, 30_000, 120_000] as const;
const LANES = [8, 50, 200, 500] as const;
/** What was promised, by model time: dollars per million rollouts. */
const MOST: Readonly<Record<number, number>> = { 1000: 3, 30000: 5 };
/**
 * Units of a cell: rounds of its lanes, more of them where a round is short, since the beginning of a run is not to weigh much; no more than this
 * machine plays before its own `fetch` gives up.
 */
const unitsOf = (modelMs: number, lanes: number): number => Math.min(3_000, Math.max(500, (modelMs <= 1_000 ? 12 : 6) * lanes));
/** Of this many rounds the beginning is too large a part to measure what was promised by. */
const FEW_ROUNDS = 6;
/** As wrangler.toml has them. */
const QUEUES = 4;

/**
 * What a million rollouts cost on the platform, by model time and lanes: the operations of runs at r = 1 in a whole deployment on a simulated
 * clock, counted where they are made. Nobody looks at the runs meanwhile.
 */
export const operations: Scenario = async (places) => {
  const script = await loadWorker("priced-worker.ts");
  const measures: Measure[] = [];
  const rows: string[] = [];
  for (const model_ms of MODEL_MS) {
    for (const lanes of LANES) {
      const cell: Priced = { model_ms, lanes, units: unitsOf(model_ms, lanes) };
      const { operations: counted } = await countedIn(places(`operations-${model_ms}-${lanes}`).state, script, cell);
      const dollars = dollarsPerMillion(counted, cell.units) + workingDollarsPerMillion(counted, cell.units);
      rows.push(costRow(cell, perThousand(counted, cell.units)));
      const most = model_ms <= 1_000 && cell.units <= FEW_ROUNDS * lanes ? undefined : MOST[model_ms];
      measures.push({
        ...{ scenario: "operations", name: `model of ${model_ms / 1_000} s, ${lanes} lanes`, value: dollars, unit: "$ per million rollouts" },
        ...(most === undefined ? {} : { target: { at_most: most } }),
      });
    }
  }
  console.error(`${COST_HEAD}\n${rows.join("\n")}`);
  return measures;
};

async function countedIn(state: string, script: string, cell: Priced): Promise<Counted> {
  const service = await startWithDeployedNumbers(state, QUEUES, { script, deployed: true });
  try {
    const answer = await fetch(service.url, { method: "POST", body: JSON.stringify(cell) });
    if (!answer.ok) throw new Error(`${JSON.stringify(cell)}: ${(await answer.text()).slice(0, 500)}`);
    const counted = (await answer.json()) as Counted;
    if (counted.done !== cell.units) throw new Error(`${JSON.stringify(cell)}: the model was asked ${counted.done} times`);
    return counted;
  } finally {
    await service.close();
  }
}
