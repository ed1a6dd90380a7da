import { z } from "zod";
import { boxedAnswerParser, MathRubric } from "../../../rubrics/math-rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { PythonEnv } from "../../sandbox/python-env.ts";

const INSTRUCTION = "Solve the following math problem. Explain your reasoning and put the final answer in \\boxed{}. Use Python for all calculations.";

/** What a problem is asked in: the instruction, the packages that are there, the problem. */
function introduction(instruction: string, packages: string): string {
  const also = packages === "" ? "You have the Python standard library." : `In addition to the Python standard library, you have access to: ${packages}.`;
  return instruction === "" ? "" : `${instruction}\n\n${also}\n\n`;
}

const asked = (source: RowSource, before: string): RowSource =>
  async function* rows(count) {
    for await (const row of source(count)) yield typeof row.question === "string" ? { ...row, question: before + row.question } : row;
  };

/** Mathematical problems with a Python process to calculate in. */
export const pythonMath = defineEnvironment({
  id: "python-math",
  version: "1.0.0",
  description:
    "Mathematical problems with a tool `python` whose names stay from call to call; the reward is 1 for an answer in \\boxed{} that equals the expected one as mathematics. Rows: question, answer.",
  args: z.object({
    instruction_prompt: z.string().default(INSTRUCTION).describe("what stands before every problem; empty for none"),
    max_turns: z.int().default(100).describe("model calls of a rollout; below 1 for no limit"),
    pip_install_packages: z.string().trim().default("").describe("what is installed in each sandbox, which needs a network; the reference: numpy sympy scipy"),
    max_startup_wait_seconds: z.int().min(1).default(60).describe("time for the Python process to start"),
    sandbox_timeout_per_command_seconds: z.number().min(1).default(60).describe("time of a call of the tool"),
    sandbox_timeout_minutes: z.int().min(1).default(60).describe("time of a sandbox"),
    sandbox_cpu_cores: z.number().positive().default(1),
    sandbox_memory_gb: z.number().positive().default(2),
    sandbox_disk_size_gb: z.number().positive().default(5),
  }),
  access: ["sandbox"],
  dataset: { dataset: "HuggingFaceH4/MATH-500", split: "test", columns: { question: "problem" } },
  load(args, { dataset, sandbox }) {
    const parser = boxedAnswerParser();
    return new PythonEnv({
      dataset: asked(dataset, introduction(args.instruction_prompt, args.pip_install_packages)),
      parser,
      rubric: new MathRubric([], { parser }),
      sandbox: sandbox(),
      maxTurns: args.max_turns,
      pipInstallPackages: args.pip_install_packages,
      maxStartupWaitSeconds: args.max_startup_wait_seconds,
      timeoutPerCommandSeconds: args.sandbox_timeout_per_command_seconds,
      timeoutMinutes: args.sandbox_timeout_minutes,
      cpuCores: args.sandbox_cpu_cores,
      memoryGb: args.sandbox_memory_gb,
      diskSizeGb: args.sandbox_disk_size_gb,
    });
  },
});
