import { Gate } from "../../clients/gate.ts";
import type { EnvironmentFetch } from "../../environments/definition/definition.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";

/**
 * Sends what is said to environments at the other end of a network: short requests that nothing long is to hold up, since an environment that hears nothing for a while ends what it
 * plays. So they wait for no model: one takes a connection that is free, or, where models have all of theirs, the one that is kept for storage, and there they are one at a time.
 */
export function outwardOf({ fetch }: Pick<ExecutorPorts, "fetch">, slice: Pick<Slice, "spend">, connections: Gate | null): EnvironmentFetch {
  const besideStorage = new Gate(1);
  const enter = async (signal: AbortSignal | null | undefined): Promise<Gate> => {
    if (connections?.tryEnter() === true) return connections;
    await besideStorage.enter(signal);
    return besideStorage;
  };
  return async (url, init) => {
    const held = connections === null ? null : await enter(init.signal);
    try {
      slice.spend();
      return await fetch(url, init);
    } finally {
      held?.leave();
    }
  };
}
