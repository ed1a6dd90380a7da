import { evaluatorIndexStub, evaluatorStub } from "../../durable-objects/stubs.ts";
import { type Env, keepsSchedules } from "../env.ts";
import { WATCHDOG_RUNS } from "../limits.ts";
import { pokeOverdue } from "./overdue.ts";

/** Pokes evaluators of training loops that have something at work, so that a lost alarm costs a minute and not the step. */
export async function pokeEvaluators(env: Env, most: number = WATCHDOG_RUNS): Promise<void> {
  if ((env as Partial<Env>).EVALUATOR === undefined || !keepsSchedules(env)) return;
  const evaluators = {
    kind: "evaluator",
    overdue: async (team: string, before: number, left: number) => (await evaluatorIndexStub(env, team).dueEvaluators(before, left)).map((name) => ({ name })),
    poke: async (team: string, { name }: { readonly name: string }) => evaluatorStub(env, team, name)?.poke(),
    forget: (team: string, { name }: { readonly name: string }) => evaluatorIndexStub(env, team).forgetEvaluator({ name, deleted: false }),
  };
  await pokeOverdue(env, evaluators, most);
}
