import { readFileSync } from "node:fs";
import { join } from "node:path";
import { evalRun, now, startService } from "../edgewise-process.ts";
import { checkFinalRows } from "../final-rows.ts";
import type { Measure } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const CONCURRENCY = 256;
/** The run is looked at in so many pieces of equal size. */
const PIECES = 10;
/** Rollouts that end in an infrastructure error, spread over the run: what the resume makes good. */
const OWED = 100;
const MIB = 1024 * 1024;

interface Sample {
  readonly at: number;
  readonly runtime: number;
  readonly command: number;
}

/**
 * One run of `--rollouts` (a million), end to end with a server that answers at once, and a resume of it: the last piece as fast as the first,
 * memory that does not grow with what is done, files that are right, and a resume that begins at once.
 */
export const scale: Scenario = async (places, { rollouts }) => {
  const model = await startModelProcess();
  const service = await startService(places("scale"));
  try {
    await model.play({ faults: [{ when: { every: Math.floor(rollouts / OWED) }, fault: { kind: "malformed_json" } }] });
    const run = { url: model.url, model: "scripted", examples: rollouts, concurrency: CONCURRENCY };
    const samples: Sample[] = [];
    const times = await evalRun(service.place, { ...run, faulty: true }, async ({ done, memory }) => {
      if (done < (samples.length * rollouts) / PIECES || (samples.length === 0 && done === 0)) return;
      samples.push({ at: now(), runtime: service.memory(), command: memory() });
      console.error(`  ${done} of ${rollouts}: runtime ${Math.round(service.memory() / MIB)} MiB, command ${Math.round(memory() / MIB)} MiB`);
      // The server remembers every request.
      await model.clear();
    });
    const settledMemory = service.memory();
    const rows = await checkFinalRows(times.folder, rollouts);
    const stated = JSON.parse(readFileSync(join(times.folder, "metadata.json"), "utf8")) as { avg_reward: number };
    if (Math.abs(stated.avg_reward - rows.avg_reward) > 1e-12) throw new Error(`metadata says ${stated.avg_reward}, the rows ${rows.avg_reward}`);

    await model.play({});
    await model.clear();
    const resumed = await evalRun(service.place, { ...run, flags: ["--resume", times.folder] });
    const { first_start_ms: first, total } = await model.stats();
    const mended = await checkFinalRows(resumed.folder, rollouts);
    if (mended.errors > 0 || total !== rows.errors) throw new Error(`${rows.errors} rows were owed, ${total} made, ${mended.errors} still have an error`);

    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "scale", name, value, unit });
    const piece = rollouts / PIECES;
    const rates = samples.slice(1).map(({ at }, index) => (piece * 1000) / (at - (samples[index]?.at ?? Number.NaN)));
    const [early, late] = [rates[0] ?? Number.NaN, rates.at(-1) ?? Number.NaN];
    const [before, after] = [samples[1], samples.at(-1)];
    return [
      measure("rollouts", rollouts, "rollouts"),
      measure("until the first was done", ((samples[0]?.at ?? Number.NaN) - times.enter_ms) / 1000, "s"),
      ...rates.map((rate, index) => measure(`tenth ${index + 1}`, rate, "rollouts/s")),
      { ...measure("last tenth beside the first", late / early, "ratio"), target: { at_least: 0.9 } },
      measure("runtime after the first tenth", (before?.runtime ?? Number.NaN) / MIB, "MiB"),
      measure("runtime after the last", (after?.runtime ?? Number.NaN) / MIB, "MiB"),
      { ...measure("growth of the runtime", (after?.runtime ?? Number.NaN) / (before?.runtime ?? Number.NaN), "ratio"), target: { at_most: 1.3 } },
      measure("runtime when all was written", settledMemory / MIB, "MiB"),
      measure("command after the first tenth", (before?.command ?? Number.NaN) / MIB, "MiB"),
      { ...measure("growth of the command", (after?.command ?? Number.NaN) / (before?.command ?? Number.NaN), "ratio"), target: { at_most: 1.3 } },
      measure("last commit to the end of the command", (times.exit_ms - times.last_commit_ms) / 1000, "s"),
      measure("results.jsonl", rows.bytes / MIB, "MiB"),
      { ...measure("resume: until its first call", ((first ?? Number.NaN) - resumed.enter_ms) / 1000, "s"), target: { at_most: 1 } },
      measure(`resume: ${total} rollouts made good, until the end of the command`, (resumed.exit_ms - resumed.enter_ms) / 1000, "s"),
    ];
  } finally {
    await service.close();
    await model.close();
  }
};
