import { z } from "zod";
import { type BenchmarkTask, readTask, whyNotRun } from "../../../benchmarks/benchmark-task.ts";
import { answerOf, checkVerifier, passes } from "../../../benchmarks/verify.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { type JudgeObjects, JudgeRubric } from "../../../rubrics/judge-rubric.ts";
import type { RewardContext } from "../../../rubrics/reward-function.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { type Defaults, defineEnvironment, type EnvironmentDefinition, type LoaderContext } from "../../definition/definition.ts";
import type { DatasetDefaults } from "../../../datasets/spec.ts";
import type { RowSource } from "../../definition/examples.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";

const PLACE = "{prompt}";

interface Settings {
  readonly user_template: string;
  readonly not_run: "refuse" | "skip";
  readonly judged: boolean;
}

/**
 * Tasks as rows. All that will be taken are looked through before the first is given out, so that one that cannot be verified is told before a model is
 * asked; those behind them are counted alone. Throws `dataset_unreadable`.
 */
function tasksOf(source: RowSource, { user_template, not_run, judged }: Settings, onCounted: (tasks: number) => void): RowSource {
  async function* playable(count: number, toTheEnd = false): AsyncGenerator<BenchmarkTask> {
    let [index, given] = [0, 0];
    for await (const row of source(-1)) {
      if (count > 0 && given === count) {
        index += 1;
        continue;
      }
      const task = readTask(row, index++);
      const reason = whyNotRun(task, judged);
      if (reason !== null && not_run === "refuse") {
        throw new EdgewiseError("dataset_unreadable", `benchmark task ${task.task_id} cannot be run: ${reason}`, {
          hint: 'The argument {"not_run": "skip"} leaves such tasks out; they count for nothing.',
        });
      }
      if (reason !== null) continue;
      checkVerifier(task);
      yield task;
      if (++given === count && !toTheEnd) return;
    }
    onCounted(index);
  }
  return async function* rows(count) {
    for await (const _ of playable(count, true));
    for await (const { task_id, instruction, system_prompt, verifier, metadata } of playable(count)) {
      const question = user_template.replace(PLACE, () => instruction);
      const prompt: JsonObject[] = [
        { role: "system", content: system_prompt },
        { role: "user", content: question },
      ];
      yield {
        ...(system_prompt === "" ? { question } : { prompt }),
        answer: verifier.expected,
        info: { task_id, instruction, verifier, metadata } as unknown as JsonObject,
      } satisfies JsonObject;
    }
  };
}

const verifierOf = (info: JsonObject): BenchmarkTask["verifier"] => info.verifier as unknown as BenchmarkTask["verifier"];

async function verifier_reward({ completion, info, prompt, answer, state, ...objects }: RewardContext & Partial<JudgeObjects>): Promise<number> {
  const verifier = verifierOf(info);
  if (verifier.kind === "in_process") return Number(passes(answerOf(completion), verifier));
  if (verifier.kind !== "llm_judge" || objects.judge === undefined) throw new Error(`nothing verifies a task of the kind ${verifier.kind}`);
  const gold = verifier.rubric === "" ? answer : `${typeof answer === "string" ? answer : JSON.stringify(answer)}\n\nRubric:\n${verifier.rubric}`;
  const said = (await objects.judge(prompt, completion, gold, state)).trim();
  if (/^\W*yes\b/i.test(said)) return 1;
  if (/^\W*no\b/i.test(said)) return 0;
  throw new Error(`the judge said neither yes nor no: ${said.slice(0, 80)}`);
}

const ARGS = z.object({
  path: z.string().default("").describe("the benchmark's folder, as the command line names it; what is read is its tasks.jsonl"),
  system_prompt: z.string().default("").describe("what stands before every task; empty for none"),
  user_template: z.string().default(PLACE).describe("what a task is asked in, with one place {prompt}"),
  not_run: z.enum(["refuse", "skip"]).default("refuse").describe("tasks that nothing here can verify: refuse the run, or leave them out"),
  judge_base_url: z.string().default("").describe("where the judge of llm_judge is; empty for none"),
  judge_api_key_var: z.string().default("").describe("the variable that holds the judge's key"),
  judge_model: z.string().default("gpt-4.1-nano").describe("the judge, whatever model tasks name"),
});

function loaded(
  id: string,
  { path, system_prompt, user_template, not_run, judge_base_url, judge_api_key_var, judge_model }: z.infer<typeof ARGS>,
  { dataset, client }: LoaderContext<DatasetDefaults | undefined>,
): SingleTurnEnv {
  if (dataset === null) {
    const why = path === "" ? "it needs the argument `path`" : `${path} is no folder with a tasks.jsonl that was uploaded`;
    throw new EdgewiseError("invalid_request", `environment ${id}: ${why}`, {
      hint: 'On the command line: -a \'{"path": "./my-benchmark"}\'; elsewhere the argument `dataset` names the tasks.jsonl itself.',
    });
  }
  if (user_template.split(PLACE).length !== 2)
    throw new EdgewiseError("invalid_request", `environment ${id}: user_template must have one place ${PLACE}, not ${user_template.split(PLACE).length - 1}`);
  const judged = judge_base_url !== "";
  if (judged && judge_api_key_var === "") throw new EdgewiseError("invalid_request", `environment ${id}: judge_base_url needs judge_api_key_var`);
  const rubric = judged
    ? new JudgeRubric([verifier_reward], { judgeClient: client({ base_url: judge_base_url, api_key_var: judge_api_key_var }), judgeModel: judge_model })
    : new Rubric([verifier_reward]);
  const environment: SingleTurnEnv = new SingleTurnEnv({
    dataset: tasksOf(dataset, { user_template, not_run, judged }, (tasks) => {
      environment.datasetSize = tasks;
    }),
    ...(system_prompt === "" ? {} : { systemPrompt: system_prompt }),
    rubric,
  });
  return environment;
}

export interface BenchmarkDefinition {
  readonly id: string;
  readonly version: string;
  readonly description: string;
  /** The `tasks.jsonl`: an https URL, or a data set of the Hub or of the service. Absent = each run names one. */
  readonly dataset?: DatasetDefaults;
  readonly defaults?: Defaults;
}

/** Tasks in the form of a benchmark as an environment of an id of its own, for a service or a file of this machine: each asked once and verified by its own verifier. */
export const defineBenchmark = ({ id, version, description, dataset: tasks, defaults = {} }: BenchmarkDefinition): EnvironmentDefinition =>
  defineEnvironment<typeof ARGS, DatasetDefaults | undefined>({
    id,
    version,
    description,
    ...(tasks === undefined ? {} : { dataset: tasks }),
    args: ARGS,
    defaults: { num_examples: -1, rollouts_per_example: 1, ...defaults },
    load: (args, context) => loaded(id, args, context),
  });

/** The tasks of a benchmark folder. */
export const benchmark = defineBenchmark({
  id: "benchmark",
  version: "1.0.0",
  description: "Tasks of a benchmark folder (tasks.jsonl): exact_match, contains, regex_match, tool_calls_match or a judge; the reward is 1 for what passes.",
});
