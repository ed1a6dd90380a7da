import type { Plan } from "./plan.ts";
import type { PreparedRequest, TicketTask } from "../../../durable-objects/run/protocol.ts";

/** What a preparation tells the Run that has found the examples up to `hi`, those before `lo` by earlier calls. */
export function preparation({ whole }: Pick<Plan, "whole">, lo: number, hi: number, { attempt }: Extract<TicketTask, { kind: "prepare" }>, envDigest: string) {
  const chunk = { lo, hi, digest: "d", bytes: 100 * hi };
  // A Run in the order of its data set has none of it.
  const permuted = hi > lo ? [{ lo, hi }] : [];
  const facts = { attempt, chunks: [chunk], permuted, count: hi, digest: "d", env_digest: envDigest, pass_threshold: 0.5, env_sampling_args: {} };
  return { ...facts, ...(whole ? { whole } : {}) } satisfies Omit<PreparedRequest, "protocol" | "ticket" | "epoch">;
}
