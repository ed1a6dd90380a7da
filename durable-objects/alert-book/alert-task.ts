import type { Env } from "../../src/env.ts";
import { MAX_QUEUE_DELAY_S } from "../../src/limits.ts";
import { count } from "../../src/operations.ts";
import { isTeam } from "../../src/teams/team-name.ts";

/** Name of the queue, in wrangler.toml and locally. */
export const ALERTS_QUEUE = "alerts";

/** A message of the queue: send this message of an alert, or, where it is null, look what is due. Safe to repeat and to lose: the book sends again. */
export interface AlertTask {
  readonly protocol: 1;
  readonly team: string;
  readonly delivery: string | null;
}

/** `delayMs`: at most as long as the queue keeps one back. */
export async function sendAlertTask(env: Env, task: Omit<AlertTask, "protocol">, delayMs = 0): Promise<void> {
  count("queue_operations");
  await (env as Partial<Env>).ALERTS?.send({ protocol: 1, ...task } satisfies AlertTask, {
    delaySeconds: Math.min(MAX_QUEUE_DELAY_S, Math.ceil(delayMs / 1_000)),
  });
}

export const isAlertTask = (body: Partial<AlertTask> | null): body is AlertTask =>
  body?.protocol === 1 && typeof body.team === "string" && isTeam(body.team) && (body.delivery === null || typeof body.delivery === "string");
