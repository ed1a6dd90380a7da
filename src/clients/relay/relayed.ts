import { ModelError } from "../../errors/rollout-errors.ts";
import type { Client, RelayReply, RelayRequest } from "../../rollouts/types.ts";

/** Has `client` pass a request on. Rejects with `bad_request` where its kind has no way to, else as `Client.relay` does. */
export async function relayed(client: Client, request: RelayRequest): Promise<RelayReply> {
  if (client.relay !== undefined) return await client.relay(request);
  throw new ModelError(`a client of type ${client.type} passes no requests on`, { code: "bad_request" });
}
