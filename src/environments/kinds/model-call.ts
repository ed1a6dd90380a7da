import type { JsonObject } from "../../config/plan/run-config.ts";
import type { Client, ModelCall, Tool } from "../../rollouts/types.ts";
import type { WatchedCall } from "../unit/call-waits.ts";

/** What differs in one model call from what the state says. */
export interface ModelCallOptions {
  readonly client?: Client;
  readonly model?: string;
  readonly tools?: readonly Tool[];
  readonly samplingArgs?: JsonObject;
}

/** What a model call says of itself while it is under way. */
export type CallEvents = Pick<ModelCall, "onBegin" | "onWait">;

/** `ask`, with what it is to tell: `call` hears of it where somebody counts the time, and `begins` is called with its first permit. */
export async function watched<T>(call: WatchedCall | null, begins: () => void, ask: (events: CallEvents) => Promise<T>): Promise<T> {
  const onBegin = (): void => {
    call?.permitted();
    begins();
  };
  try {
    return await ask(call === null ? { onBegin } : { onBegin, onWait: (waiting) => call.waits(waiting) });
  } finally {
    call?.over();
  }
}
