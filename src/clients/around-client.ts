import type { Client, ModelCall } from "../rollouts/types.ts";

/** What is done around every call of a client, whatever it asks for. */
export type Around = <R extends ModelCall, T>(request: R, ask: (request: R) => Promise<T>) => Promise<T>;

/** `client` with something around each of its calls: what limits, watches or times answers does so to scores too. */
export function aroundClient(client: Client, around: Around): Client {
  const score = client.score?.bind(client);
  const relay = client.relay?.bind(client);
  return {
    type: client.type,
    getResponse: (request) => around(request, (own) => client.getResponse(own)),
    ...(score === undefined ? {} : { score: (request) => around(request, score) }),
    ...(relay === undefined ? {} : { relay: (request) => around(request, relay) }),
  };
}
