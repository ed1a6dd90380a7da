import { runBareLoop } from "../bare-loop.ts";
import { evalRun, runtimeSeconds, type Workplace } from "../edgewise-process.ts";
import type { Measure } from "../measure.ts";
import { type ModelProcess, startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const ROLLOUTS = 10_000;
const CONCURRENCY = 256;

/**
 * A server that answers at once: what the engine itself costs, beside a loop that does nothing but fetch. By the clock, and in
 * processor time of the runtime, which is one thread; the second says more on a machine that does other things.
 */
export const throughput: Scenario = async (places) => {
  const model = await startModelProcess();
  try {
    const bare = await runBareLoop(model, ROLLOUTS, CONCURRENCY);
    const direct = await runBareLoop(model, ROLLOUTS, CONCURRENCY, "direct");
    const engine = await runEngine(model, places("throughput"));
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "throughput", name, value, unit });
    return [
      measure("bare fetch loop in workerd", bare.rate, "requests/s"),
      measure("the same without miniflare's Worker before fetch", direct.rate, "requests/s"),
      measure("first call to last commit", engine.rate, "rollouts/s"),
      measure("whole command", engine.whole, "rollouts/s"),
      { ...measure("engine beside bare loop", engine.rate / bare.rate, "ratio"), target: { at_least: 0.6 } },
      measure("engine beside the direct loop", engine.rate / direct.rate, "ratio"),
      measure("bare request", bare.processor_us, "µs of the runtime"),
      measure("direct request", direct.processor_us, "µs of the runtime"),
      measure("rollout", engine.processor_us, "µs of the runtime"),
      measure("bare request beside a rollout", bare.processor_us / engine.processor_us, "ratio"),
    ];
  } finally {
    await model.close();
  }
};

/** Rates by the clock, and what a rollout took of the runtime once the first tenth was done. */
async function runEngine(model: ModelProcess, place: Workplace): Promise<{ readonly rate: number; readonly whole: number; readonly processor_us: number }> {
  const seen: { readonly done: number; readonly seconds: number }[] = [];
  await model.clear();
  const times = await evalRun(place, { url: model.url, model: "scripted", examples: ROLLOUTS, concurrency: CONCURRENCY }, ({ done }) => {
    const seconds = runtimeSeconds(place);
    if (seconds !== null && done >= ROLLOUTS / 10) seen.push({ done, seconds });
  });
  const [begin, end] = [seen[0], seen.at(-1)];
  const first = (await model.stats()).first_start_ms ?? Number.NaN;
  return {
    rate: (ROLLOUTS * 1000) / (times.last_commit_ms - first),
    whole: (ROLLOUTS * 1000) / (times.exit_ms - times.enter_ms),
    processor_us: begin === undefined || end === undefined ? Number.NaN : ((end.seconds - begin.seconds) * 1e6) / (end.done - begin.done),
  };
}
