import { type AlertTask, isAlertTask } from "../../durable-objects/alert-book/alert-task.ts";
import type { Env } from "../env.ts";
import { failureOf } from "../errors/result.ts";
import { count } from "../operations.ts";
import { deliver, type Fetch, overNetwork } from "./deliver.ts";

/**
 * Messages of alerts, all of a batch at once, and none is waited for: the queue brings the next batch while a receiver has not answered, so that it holds up
 * nobody else's message (`queue_consumer_no_wait_for_wait_until`). The 15 s of an answer are within the 30 s that work may go on behind a batch; what is lost
 * with its invocation, or not told to its book, is sent for again by that. A batch is smaller than the six calls of an invocation that may wait for an answer.
 */
export function takeMessages(batch: MessageBatch<AlertTask>, env: Env, ctx: Pick<ExecutionContext, "waitUntil">, send: Fetch = overNetwork): void {
  count("queue_operations", 2 * batch.messages.length);
  batch.ackAll();
  for (const { body } of batch.messages) if (isAlertTask(body)) ctx.waitUntil(delivered(env, body, send));
}

async function delivered(env: Env, task: AlertTask, send: Fetch): Promise<void> {
  try {
    await deliver(env, task, send);
  } catch (thrown) {
    console.warn(`alerts ${task.team}: ${failureOf(thrown).message}`);
  }
}
