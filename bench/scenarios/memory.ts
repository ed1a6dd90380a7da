import { evalRun, startService } from "../edgewise-process.ts";
import type { Measure } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import { difference } from "../prices.ts";
import type { Scenario } from "../scenario.ts";

const EARLY = 10_000;
const ROLLOUTS = 50_000;
const MIB = 1024 * 1024;

/** One run of 50,000: what the runtime holds must not grow with what it has done, and the final file must not be read row by row. */
export const memory: Scenario = async (places) => {
  const model = await startModelProcess();
  const service = await startService(places("memory"));
  try {
    const before = await service.operations();
    const seen: { early?: number } = {};
    const times = await evalRun(service.place, { url: model.url, model: "scripted", examples: ROLLOUTS, concurrency: 256 }, ({ done }) => {
      if (done >= EARLY) seen.early ??= service.memory();
    });
    await service.settled(times.runId);
    const late = service.memory();
    const { early } = seen;
    if (early === undefined) throw new Error("the run was over before it was looked at");
    // Of the whole run: inputs, the follower's folder, and the final files; it cannot be seen from outside where one ends.
    const reads = difference(await service.operations(), before).r2_class_b;
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "memory", name, value, unit });
    return [
      measure(`runtime after ${EARLY} rollouts`, early / MIB, "MiB"),
      measure(`runtime after ${ROLLOUTS} rollouts`, late / MIB, "MiB"),
      { ...measure("growth", late / early, "ratio"), target: { at_most: 1.3 } },
      { ...measure(`R2 reads of the whole run, final files included, ${ROLLOUTS} rows`, reads, "reads"), target: { at_most: 999 } },
    ];
  } finally {
    await service.close();
    await model.close();
  }
};
