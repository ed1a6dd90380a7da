import { relayed } from "../../clients/relay/relayed.ts";
import { scoreTexts } from "../../clients/scoring/score-texts.ts";
import type { Client, ModelCall } from "../../rollouts/types.ts";
import type { RolloutErrorCode } from "../../errors/codes.ts";
import { EdgewiseError } from "../../errors/result.ts";

/** A replica that refuses connections is left alone for this long, doubling each time it still does. */
const FIRST_SKIP_MS = 5_000;
const MAX_SKIP_MS = 60_000;

/** Failures in which no request has reached the server: another replica may take it. */
export const isUnreached = (code: unknown): boolean => code === "connection_failed" || code === "connect_timeout";

/** Whether a place takes connections; shared by all runs of an executor that call it. */
export class PlaceHealth {
  readonly #now: () => number;
  #skips = 0;
  #until = 0;

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Until when it is left alone, by the clock handed in; null while it takes connections. */
  get downUntil(): number | null {
    return this.#until > this.#now() ? this.#until : null;
  }

  reached(): void {
    this.#skips = 0;
    this.#until = 0;
  }

  refused(): void {
    if (this.downUntil === null) this.#until = this.#now() + Math.min(FIRST_SKIP_MS * 2 ** this.#skips++, MAX_SKIP_MS);
  }
}

export interface ReplicaPlace {
  readonly client: Client;
  readonly health: PlaceHealth;
  /** Called when a unit of this place goes to another, `until` the time when it is asked again. */
  readonly onPassedOver: (until: number) => void;
}

export interface ReplicaPatience {
  readonly now: () => number;
  /** How long a request is taken from place to place while now one takes connections and now another, in milliseconds. */
  readonly ms: number;
}

/** The places of a run: unit i goes to place i mod n, with all its turns, and past it only while it refuses connections. */
export class Replicas {
  readonly #places: readonly ReplicaPlace[];
  readonly #patience: ReplicaPatience;

  constructor(places: readonly ReplicaPlace[], patience: ReplicaPatience) {
    this.#places = places;
    this.#patience = patience;
  }

  clientOf(unit: number): Client {
    const [only, second] = this.#places;
    if (only === undefined) throw new RangeError("a run without a place to call its model at");
    if (second === undefined) return only.client;
    const { type, score, relay } = only.client;
    return {
      type,
      getResponse: (request) => this.#ask(unit, request, (client, own) => client.getResponse(own)),
      ...(score === undefined ? {} : { score: (request) => this.#ask(unit, request, scoreTexts) }),
      ...(relay === undefined ? {} : { relay: (request) => this.#ask(unit, request, relayed) }),
    };
  }

  async #ask<R extends ModelCall, T>(unit: number, request: R, ask: (client: Client, request: R) => Promise<T>): Promise<T> {
    // Another place begins nothing anew: the request has waited for it.
    const { onBegin, onWait } = request;
    let hasBegun = false;
    const once = {
      ...request,
      onBegin: () => {
        if (hasBegun) onWait?.(false);
        else onBegin?.();
        hasBegun = true;
      },
    };
    const { now, ms } = this.#patience;
    const begun = now();
    for (let tries = 1; ; tries++) {
      const { client } = this.#placeOf(unit);
      try {
        return await ask(client, once);
      } catch (thrown) {
        const more = tries < this.#places.length || now() - begun < ms;
        if (!more || !(thrown instanceof EdgewiseError) || !isUnreached(thrown.code) || !this.lives) throw thrown;
        if (hasBegun) onWait?.(true);
      }
    }
  }

  /** The unit's own place, or the next that takes connections; its own where none does. */
  #placeOf(unit: number): ReplicaPlace {
    const count = this.#places.length;
    const inOrder = Array.from({ length: count }, (_, step) => this.#places[(unit + step) % count]).filter((place) => place !== undefined);
    for (const place of inOrder) {
      if (place.health.downUntil === null) return place;
      if (this.lives) place.onPassedOver(place.health.downUntil);
    }
    const [own] = inOrder;
    if (own === undefined) throw new RangeError("a run without a place to call its model at");
    return own;
  }

  /** Whether any place takes connections. */
  get lives(): boolean {
    return this.#places.some(({ health }) => health.downUntil === null);
  }

  /** Whether a request that failed so at one place is for another to take. */
  takes(code: RolloutErrorCode): boolean {
    return this.#places.length > 1 && isUnreached(code) && this.lives;
  }
}
