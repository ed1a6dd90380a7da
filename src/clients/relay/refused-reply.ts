import type { RelayReply } from "../../rollouts/types.ts";

/** Beside the errors: what rows and logs say of a refusal is short, and this is not. */
const replies = new WeakMap<object, RelayReply>();

/** `error` with what the server said. */
export function withReply<E extends object>(error: E, reply: RelayReply | undefined): E {
  if (reply !== undefined) replies.set(error, reply);
  return error;
}

/** What the server itself answered to a relayed request that ended in `thrown`; null where it said nothing. */
export const refusedReply = (thrown: unknown): RelayReply | null => (typeof thrown === "object" && thrown !== null ? (replies.get(thrown) ?? null) : null);
