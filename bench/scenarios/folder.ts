import { statSync } from "node:fs";
import { join } from "node:path";
import { evalRun, now, type RunOptions, type Workplace } from "../edgewise-process.ts";
import type { Measure } from "../measure.ts";
import { type ModelProcess, spanOf, startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const ROLLOUTS = 20_000;
/** Texts of some 700 characters, which make rows of some 4 KB. */
const LONG = ["-a", '{"min_words": 100, "max_words": 100}'];
const MB = 1e6;

/** Rows that reach the results folder while a server answers at once: how much of them is there when the last call has been answered, and what that costs the engine. */
export const folder: Scenario = async (places) => {
  const model = await startModelProcess();
  try {
    const options = { url: model.url, examples: ROLLOUTS, concurrency: 256 };
    const { rate, at_last_answer, whole } = await followed(model, places("folder"), { ...options, model: "scripted", flags: LONG });
    const unsaved = await plain(model, places("no-folder"), { ...options, model: "scripted-unsaved", flags: [...LONG, "--no-save"] });
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "folder", name, value, unit });
    return [
      measure("results.jsonl at the end", whole / MB, "MB"),
      measure("results.jsonl when the last call was answered", at_last_answer / MB, "MB"),
      { ...measure("of it there when the last call was answered", at_last_answer / whole, "ratio"), target: { at_least: 0.9 } },
      measure("with a folder", rate, "calls/s"),
      measure("with --no-save", unsaved, "calls/s"),
      measure("with a folder beside without", rate / unsaved, "ratio"),
    ];
  } finally {
    await model.close();
  }
};

async function followed(model: ModelProcess, place: Workplace, options: RunOptions) {
  const seen: { readonly at: number; readonly bytes: number }[] = [];
  const times = await evalRun(place, options, ({ folder: path }) => {
    seen.push({ at: now(), bytes: sizeOf(path) });
  });
  const stats = await model.stats(options.model);
  const end = stats.last_end_ms ?? Number.NaN;
  return { rate: rateOf(stats), at_last_answer: seen.findLast(({ at }) => at <= end)?.bytes ?? 0, whole: sizeOf(times.folder) };
}

async function plain(model: ModelProcess, place: Workplace, options: RunOptions): Promise<number> {
  await evalRun(place, options);
  return rateOf(await model.stats(options.model));
}

const rateOf = (stats: Parameters<typeof spanOf>[0]): number => (ROLLOUTS * 1000) / spanOf(stats);
const sizeOf = (folder: string): number => statSync(join(folder, "results.jsonl"), { throwIfNoEntry: false })?.size ?? 0;
