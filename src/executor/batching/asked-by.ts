import { aroundClient } from "../../clients/around-client.ts";
import type { Client } from "../../rollouts/types.ts";

/** Says for whom requests are that reach one client by several ways, by the states that they name. */
export class AskedBy<Owner extends object> {
  readonly #owners = new WeakMap<object, Owner>();

  /** `client`, whose requests are for `owner`. */
  of(owner: Owner, client: Client): Client {
    return aroundClient(client, (request, ask) => {
      this.#owners.set(request.state, owner);
      return ask(request);
    });
  }

  /** Undefined for a request that came by no such way. */
  ownerOf(state: Readonly<Record<string, unknown>>): Owner | undefined {
    return this.#owners.get(state);
  }
}
