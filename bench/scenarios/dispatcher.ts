import { OfferBook } from "../../durable-objects/dispatcher/offers.ts";
import { type Measure, median } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const RUNS = [1_000, 10_000] as const;
const CALLS = 2_000;
/** As a deployment has it (`EXECUTOR_REQUESTS`). */
const REQUESTS = 5;

/** Milliseconds of one `next` with so many runs that want lanes: the median, and the slowest but one in a hundred. */
function timeOfNext(runs: number): { readonly middle: number; readonly slow: number } {
  const book = new OfferBook();
  for (let index = 0; index < runs; index++) book.offer({ run: index.toString(16).padStart(8, "0"), want: 1_000, weight: 1, seq: 1 }, 0);
  const times = Array.from({ length: CALLS }, (_, call) => {
    const start = performance.now();
    book.next({ executor: "e", free: REQUESTS, serving: [], refused: [] }, call);
    book.takeChanges();
    return performance.now() - start;
  });
  return { middle: median(times), slow: times.sort((a, b) => a - b)[Math.floor(CALLS * 0.99)] ?? Number.NaN };
}

/** What an executor's question costs the Dispatcher, beside the row for each run that it names. */
export const dispatcher: Scenario = async () =>
  RUNS.flatMap((runs): Measure[] => {
    const { middle, slow } = timeOfNext(runs);
    const measure = (name: string, value: number): Measure => ({ scenario: "dispatcher", name: `${name} with ${runs} runs known`, value, unit: "ms" });
    return [measure("next", middle), { ...measure("next, 99 of 100 calls", slow), target: { at_most: 1 } }];
  });
