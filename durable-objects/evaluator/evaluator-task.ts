import type { Env } from "../../src/env.ts";
import { count } from "../../src/operations.ts";
import { isTeam } from "../../src/teams/team-name.ts";

/** A message of the queue of schedules: something of an evaluator is to be done where environments and secrets are. Safe to repeat; one that is lost is sent again. */
export interface EvaluatorTask {
  readonly protocol: 1;
  readonly team: string;
  readonly evaluator: string;
  /** Create the run of this evaluation of a step; null = post the points that wait, or what `read` says. */
  readonly create: { readonly step: number; readonly evaluation: string } | null;
  /** A run that is over: compute what is made of its rewards. */
  readonly read?: string;
}

export async function sendEvaluatorTask(env: Env, task: Omit<EvaluatorTask, "protocol">): Promise<void> {
  count("queue_operations");
  await (env as Partial<Env>).SCHEDULES?.send({ protocol: 1, ...task } satisfies EvaluatorTask);
}

export const isEvaluatorTask = (body: Partial<EvaluatorTask> | null): body is EvaluatorTask =>
  body?.protocol === 1 && typeof body.team === "string" && isTeam(body.team) && typeof body.evaluator === "string" && body.create !== undefined;
