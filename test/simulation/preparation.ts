import type { PreparedRequest, TicketTask } from "../../durable-objects/run/protocol.ts";

/** What a preparation that finds `n` examples tells the Run. */
export function preparation(n: number, { attempt, pinned }: Extract<TicketTask, { kind: "prepare" }>, envDigest: string) {
  const chunk = { lo: pinned?.count ?? 0, hi: n, digest: "d", bytes: 100 * n };
  const facts = { attempt, chunks: [chunk], count: n, digest: "d", env_digest: envDigest, pass_threshold: 0.5, env_sampling_args: {} };
  return facts satisfies Omit<PreparedRequest, "protocol" | "ticket" | "epoch">;
}
