import { aroundClient } from "../../clients/around-client.ts";
import type { AskedRole, CacheMeter } from "../../rollouts/state/cache-meter.ts";
import type { Client } from "../../rollouts/types.ts";

/** `client`, each of whose answers `meter` counts; the client itself where nobody counts. */
export function countedBy(meter: CacheMeter | undefined, role: AskedRole, client: Client): Client {
  if (meter === undefined) return client;
  return aroundClient(client, async (request, ask) => {
    const answer = await ask(request);
    meter.answered(request.state, role);
    return answer;
  });
}
