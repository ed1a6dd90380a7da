import type { Channel } from "../../../src/environment-protocol/channel.ts";

export interface ChannelPair {
  readonly engine: Channel;
  readonly environment: Channel;
  /** The environment's side is gone. */
  readonly breaks: (reason?: Parameters<Channel["onBroken"]>[0]) => void;
  /** Batches that crossed, and messages in them, by their direction. */
  readonly crossed: { toEngine: number; toEnvironment: number; messages: { type: string }[] };
}

/** Two ends in one process. Every batch crosses as JSON text, so that nothing else does. */
export function memoryChannels(keepsMessages = false): ChannelPair {
  const crossed: ChannelPair["crossed"] = { toEngine: 0, toEnvironment: 0, messages: [] };
  let isOpen = true;
  const deliver = (to: () => Channel, direction: "toEngine" | "toEnvironment", batch: readonly unknown[]): void => {
    const text = JSON.stringify(batch);
    crossed[direction]++;
    queueMicrotask(() => {
      if (!isOpen) return;
      const messages = JSON.parse(text) as { type: string }[];
      if (keepsMessages) crossed.messages.push(...messages);
      to().onBatch(messages);
    });
  };
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    environment.onBroken({ code: "environment_failed", message: "the channel was closed" });
  };
  const nothing = (): void => undefined;
  const engine: Channel = { send: (batch) => deliver(() => environment, "toEnvironment", batch), onBatch: nothing, onBroken: nothing, close };
  const environment: Channel = { send: (batch) => deliver(() => engine, "toEngine", batch), onBatch: nothing, onBroken: nothing, close: nothing };
  const breaks: ChannelPair["breaks"] = (reason = { code: "sandbox_error", message: "the isolate of the environment is gone" }) => {
    if (!isOpen) return;
    isOpen = false;
    engine.onBroken(reason);
  };
  return { engine, environment, breaks, crossed };
}
