/** `edgewise evaluator put | apply`: the evaluators of a team as a file says them. */
import { resolve } from "node:path";
import { printableJson } from "../../report/text/printable.ts";
import { carryOut, type Kind, type Planned, planLines, planOf, toldOf } from "../applying/apply-plan.ts";
import { textOf } from "../applying/file-tables.ts";
import { askService } from "../runs/ask-service.ts";
import type { CommandContext } from "../service/command-context.ts";
import { EXIT, type ExitCode, usageError } from "../terminal/cli-error.ts";
import { evaluatorPath, type ShownEvaluator } from "./evaluator-answer.ts";
import { evaluatorsIn } from "./evaluator-file.ts";
import { type EvaluatorWish, mustBeName, unserved } from "./evaluators.ts";

interface Answer {
  readonly data: ShownEvaluator;
}

const EVALUATORS: Kind<Planned> = {
  path: evaluatorPath,
  called: (name) => name,
  more: () => "",
  gone: "its runs stay",
  unsaid: "evaluator",
};

/** Everything is checked before anything is changed, and the same file once more changes nothing. `prune`: deletes what the file no longer has. `dryRun`: only shows. */
export async function evaluatorApply(
  context: CommandContext,
  wish: EvaluatorWish & { readonly file: string; readonly prune: boolean; readonly dryRun: boolean },
): Promise<ExitCode> {
  const { file, team, output, dryRun } = wish;
  const { terminal } = context;
  const wanted = evaluatorsIn(textOf(resolve(context.cwd, file), file), file);
  const after: ShownEvaluator[] = [];
  const plan = await askService(
    context,
    "edgewise evaluator apply",
    async ({ client }) => {
      const planned = await planOf(client, EVALUATORS, wanted, wish);
      if (output === "table") for (const line of planLines(planned)) terminal.print(line);
      if (!dryRun) await carryOut<Answer>(client, planned, team, (_, { data }) => after.push(data));
      return planned;
    },
    true,
  );
  if (output === "json") terminal.print(printableJson({ dry_run: dryRun, ...toldOf(plan, () => ({})) }, 2));
  unserved(context, after);
  return EXIT.completed;
}

/** The one of a file that is called `name`. */
export async function evaluatorPut(
  context: CommandContext,
  { file, name, team, output }: EvaluatorWish & { readonly file: string; readonly name: string },
): Promise<ExitCode> {
  mustBeName(name);
  const all = evaluatorsIn(textOf(resolve(context.cwd, file), file), file);
  const wanted = all.find((each) => each.name === name);
  if (wanted === undefined) throw usageError(`${file} has no [[evaluator]] called ${name}: it has ${all.map((each) => each.name).join(", ") || "none"}`);
  const answer = await askService(
    context,
    "edgewise evaluator put",
    ({ client }) => client.json<Answer>("PUT", evaluatorPath(name, team), { body: wanted.given, retries: 2 }),
    true,
  );
  context.terminal.print(output === "json" ? printableJson(answer, 2) : `Evaluator ${name} is kept: npx edgewise evaluator show ${name}`);
  unserved(context, [answer.data]);
  return EXIT.completed;
}
