import type { Answered, Load } from "../load/load.ts";
import { ask } from "../load/ask.ts";
import { loadWorker } from "../load/bundled-load.ts";
import { startWithDeployedNumbers } from "../deployed-numbers.ts";
import type { Measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

/** What a slow model leaves: 400,000 rows of 4 KB in segments of twenty, by 250 executors side by side. */
const LOAD = { executors: 250, units: 400_000, batch: 20, bytes: 4_000, ms: 1_200_000, look: false, final: true } as const;
/** What a read of R2 takes until its bytes are there, and reads at once of one invocation. Our assumption; the platform's own times are not known here. */
const READ_MS = 50;
const READS_AT_ONCE = 5;
/** Nobody is asked anything; with it the service is no local one, which merges only where an executor is free. */
const NO_MODEL = "127.0.0.1:9";

/** What merging small segments while a run goes on spares its end, and what it costs. */
export const merging: Scenario = async (places) => {
  const script = await loadWorker();
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "merging", name, value, unit });
  const measures: Measure[] = [];
  const reads: number[] = [];
  for (const merge of [false, true]) {
    const service = await startWithDeployedNumbers(places(`merging-${merge}`).state, 0, { script, model: NO_MODEL });
    try {
      const load: Load = { ...LOAD, merge };
      const { final, merges, units } = await ask<Answered>(service.url, load);
      if (final === null) throw new Error("the final file was not looked at");
      const how = merge ? "merged" : "not merged";
      reads.push(final.reads);
      measures.push(measure(`segments of ${LOAD.batch} rows, ${how}`, units / LOAD.batch, "segments"));
      measures.push(measure(`reads of the final file, ${how}`, final.reads, "reads"));
      measures.push(measure(`which take, at ${READ_MS} ms and ${READS_AT_ONCE} at once`, (final.reads * READ_MS) / READS_AT_ONCE / 60_000, "min"));
      measures.push(measure(`calls of the Run for ${final.parts} parts, ${how}`, final.ms / 1_000, "s"));
      if (merges === null) continue;
      measures.push(measure("merging: reads", merges.reads, "reads"), measure("merging: puts", merges.puts, "puts"));
      measures.push(measure("merging: calls of the Run, and copies", merges.ms / 1_000, "s"));
    } finally {
      await service.close();
    }
  }
  const [before = Number.NaN, after = Number.NaN] = reads;
  return [...measures, { ...measure("reads of the final file, merged beside not", after / before, "ratio"), target: { at_most: 0.1 } }];
};
