import { spawn } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { verifiersPython, type VerifiersPython } from "../../test/support/python/verifiers-python.ts";
import { evalRun, type Workplace } from "../edgewise-process.ts";
import { type Measure, median } from "../measure.ts";
import { type ModelProcess, spanOf, startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const ROLLOUTS = 2_000;
/** Below 256, from where on either would take a second process by itself. */
const CONCURRENCY = 200;
/** Of each in turn: a machine that does other things does them to all. */
const ROUNDS = 3;
const PROCESSES = [1, 2] as const;

/** An environment of one turn, of which nothing is written for us: what is measured is the way to the model and back. */
const SOURCE = `from datasets import Dataset

import verifiers as vf


def load_environment():
    def said(completion) -> float:
        return float(len(completion[-1]["content"]) > 0)

    rows = [{"question": f"Say the number {i}.", "answer": str(i)} for i in range(${ROLLOUTS})]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[said]))
`;
const ID = "said_numbers";

/** Rollouts a second, from the first request at the model's server to the last, of one environment of Python's by its own evaluator and by ours. */
export const python: Scenario = async (places) => {
  const found = verifiersPython("the speed of environments in Python");
  if (found === null) return [];
  const place = places("python");
  const folder = join(place.folder, "environments", ID);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, `${ID}.py`), SOURCE);
  const model = await startModelProcess();
  try {
    const theirs: number[] = [];
    const ours = new Map<number, number[]>(PROCESSES.map((processes) => [processes, []]));
    for (let round = 0; round < ROUNDS; round++) {
      theirs.push(await rateOf(model, () => vfEval(found, place, folder, model.url)));
      for (const processes of PROCESSES)
        ours.get(processes)?.push(
          await rateOf(model, async () => {
            const flags = ["--python", found.python, "-w", String(processes), "--no-save"];
            await evalRun(place, { environment: folder, url: model.url, model: `w${processes}`, examples: ROLLOUTS, concurrency: CONCURRENCY, flags });
          }),
        );
    }
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "python", name, value, unit });
    const [one = Number.NaN, two = Number.NaN] = PROCESSES.map((processes) => median(ours.get(processes) ?? []));
    return [
      measure("vf-eval, one process", median(theirs), "rollouts/s"),
      measure("eval run, one process", one, "rollouts/s"),
      measure("eval run, two processes", two, "rollouts/s"),
      { ...measure("eval run beside vf-eval", one / median(theirs), "ratio"), target: { at_least: 2 } },
      measure("two processes beside one", two / one, "ratio"),
    ];
  } finally {
    await model.close();
  }
};

async function rateOf(model: ModelProcess, run: () => Promise<void>): Promise<number> {
  await model.clear();
  await run();
  const stats = await model.stats();
  if (stats.total < ROLLOUTS) throw new Error(`the model was asked ${stats.total} times, and not ${ROLLOUTS}`);
  return (stats.total * 1_000) / spanOf(stats);
}

async function vfEval({ vfEval: program }: VerifiersPython, place: Workplace, folder: string, url: string): Promise<void> {
  const flags = ["-m", "theirs", "-b", url, "-k", "KEY", "-n", String(ROLLOUTS), "-r", "1", "-c", String(CONCURRENCY), "-w", "1", "--disable-tui"];
  const env = { ...process.env, KEY: "none", PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
  const child = spawn(program, [ID, ...flags], { cwd: place.folder, env, stdio: "ignore" });
  const code = await new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", resolve);
  });
  if (code !== 0) throw new Error(`vf-eval ended with ${String(code)}`);
}
