import { aroundClient } from "../../clients/around-client.ts";
import type { Client } from "../../rollouts/types.ts";

/** How long the requests of a grant have been under way, each from the moment it held its permit. */
export class RequestAges {
  readonly #now: () => number;
  /** In the order in which they began. */
  readonly #begun = new Map<object, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Milliseconds; 0 when there is none. */
  get oldest(): number {
    const [first] = this.#begun.values();
    return first === undefined ? 0 : Math.max(0, this.#now() - first);
  }

  /** `client`, its requests watched. */
  of(client: Client): Client {
    return aroundClient(client, async (request, ask) => {
      const token = {};
      const onBegin = (): void => {
        this.#begun.set(token, this.#now());
        request.onBegin?.();
      };
      const onWait = (waiting: boolean): void => {
        if (waiting) this.#begun.delete(token);
        else this.#begun.set(token, this.#now());
        request.onWait?.(waiting);
      };
      try {
        return await ask({ ...request, onBegin, onWait });
      } finally {
        this.#begun.delete(token);
      }
    });
  }
}
