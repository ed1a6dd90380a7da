import type { AttemptOutcome } from "../../../src/endpoint-limits/limit-kinds.ts";
import type { Holder } from "../../../src/executor/limiting/holder.ts";

export const outcome = (kind: AttemptOutcome["kind"], ms = 10): AttemptOutcome => ({
  kind,
  ms,
  cost: { input_tokens: 0, output_tokens: 0 },
  used: null,
  told: null,
  named: null,
  named_limit: null,
  retry_after_ms: null,
});

/** Requests that wait in the holder's line; how many have begun. */
export function ask(holder: Holder, count: number, signal?: AbortSignal) {
  const state = { begun: 0, gaveUp: 0 };
  for (let n = 0; n < count; n++)
    holder.enter(signal).then(
      () => state.begun++,
      () => state.gaveUp++,
    );
  return state;
}
