import { z } from "zod";
import { sleep } from "../../../clients/transport/sleep.ts";
import type { JsonObject } from "../../../config/plan/run-config.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { MaybeThinkParser } from "../../../parsers/think-parser.ts";
import { Rubric } from "../../../rubrics/rubric.ts";
import { defineEnvironment } from "../../definition/definition.ts";
import type { RowSource } from "../../definition/examples.ts";
import { SingleTurnEnv } from "../../kinds/single-turn-env.ts";
import { OwnSandboxes } from "../../sandbox/own-sandboxes.ts";
import { sandboxSpec } from "../../sandbox/sandbox-spec.ts";
import { checkedProgram, type Problem } from "./program.ts";
import { runProgram } from "./run-program.ts";

const PLACE = "{prompt}";
const TEMPLATE = `Complete the following Python function. Answer with the whole function, imports included, in one block of code.\n\n\`\`\`python\n${PLACE}\n\`\`\``;

const COLUMNS = ["task_id", "prompt", "test", "entry_point"] as const;

/** A row as a problem. Throws `dataset_unreadable` naming the row. */
function problemOf(row: JsonObject, index: number): Problem {
  const text = (column: (typeof COLUMNS)[number]): string => {
    const value = row[column];
    if (typeof value === "string" && value !== "") return value;
    throw new EdgewiseError("dataset_unreadable", `row ${index} has no text in the column ${column}: HumanEval's rows have ${COLUMNS.join(", ")}`);
  };
  const problem = { task_id: text("task_id"), prompt: text("prompt"), test: text("test"), entry_point: text("entry_point") };
  if (!/^[\p{L}_][\p{L}\p{N}_]*$/u.test(problem.entry_point))
    throw new EdgewiseError("dataset_unreadable", `row ${index}: entry_point is ${JSON.stringify(problem.entry_point)}, which is no name of a function`);
  return problem;
}

const questions = (source: RowSource, template: string): RowSource =>
  async function* rows(count) {
    let index = 0;
    for await (const row of source(count)) {
      const problem = problemOf(row, index++);
      yield {
        question: template.replace(PLACE, () => problem.prompt),
        answer: typeof row.canonical_solution === "string" ? row.canonical_solution : "",
        info: { ...problem },
      } satisfies JsonObject;
    }
  };

/** Python functions to write, judged by running their tests. */
export const humaneval = defineEnvironment({
  id: "humaneval",
  version: "1.0.0",
  description:
    "164 Python functions to complete; each answer is run with its tests in a sandbox, and the reward is 1 when they pass. Rows: task_id, prompt, test, entry_point.",
  args: z.object({
    user_template: z.string().default(TEMPLATE).describe("what a function is asked for in, with one place {prompt}"),
    system_prompt: z.string().default("").describe("what stands before every problem; empty for none"),
    timeout_seconds: z.number().min(1).max(600).default(3).describe("processor time of a program; on the clock it may take ten times as long"),
  }),
  access: ["sandbox"],
  dataset: { dataset: "openai/openai_humaneval", split: "test" },
  load({ user_template, system_prompt, timeout_seconds }, { dataset, sandbox }) {
    if (user_template.split(PLACE).length !== 2)
      throw new EdgewiseError(
        "invalid_request",
        `environment humaneval: user_template must have one place ${PLACE}, not ${user_template.split(PLACE).length - 1}`,
      );
    const parser = new MaybeThinkParser();
    const sandboxes = new OwnSandboxes(sandbox(), sandboxSpec({ sandboxName: "humaneval", timeoutMinutes: 30 }), sleep);
    const rubric = new Rubric(
      [
        {
          name: "passed",
          fn: async ({ completion, info, state, signal }) => {
            const program = checkedProgram(parser.parseAnswer(completion) ?? "", info as unknown as Problem);
            const verdict = await sandboxes.within((own, id) => runProgram(own, id, program, timeout_seconds, signal), signal);
            state.test_result = verdict.said;
            return verdict.passed;
          },
        },
      ],
      { parser },
    );
    const environment = new SingleTurnEnv({
      dataset: questions(dataset, user_template),
      ...(system_prompt === "" ? {} : { systemPrompt: system_prompt }),
      parser,
      rubric,
    });
    environment.onTeardown("delete_sandboxes", () => sandboxes.closeAll());
    return environment;
  },
});
