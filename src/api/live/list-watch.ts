import type { RegistryControl } from "../../../durable-objects/registry/registry-control.ts";
import { unlessOlder } from "../older-object.ts";
import { readTwice } from "../read-twice.ts";

/** A look that has not come back after this long was that of a stream which has been left. */
const LOOK_MS = 1_000;

/** One look at the list of a team for all streams of this isolate, as RunWatch is one at a run: data only, since no request may wait for another one's. */
export class ListWatch {
  #seen: { readonly text: string; readonly at: number } | null = null;
  #looking: { readonly since: number } | null = null;

  /** What the Registry last said of its changes, `everyMs` old or as old as the look that is under way; null while that is the first. */
  async step(registry: () => RegistryControl, now: () => number, everyMs: number): Promise<string | null> {
    const since = now();
    const isFresh = this.#seen !== null && since - this.#seen.at < everyMs;
    const isLooking = this.#looking !== null && since - this.#looking.since < LOOK_MS;
    if (isFresh || isLooking) return this.#seen?.text ?? null;
    const mine = { since };
    this.#looking = mine;
    try {
      const text = await unlessOlder(
        readTwice(registry, (stub) => stub.listChanges()),
        "",
      );
      // Overtaken by another stream, which took this one for lost.
      if (this.#looking !== mine) return this.#seen?.text ?? null;
      this.#seen = { text, at: now() };
      return text;
    } finally {
      if (this.#looking === mine) this.#looking = null;
    }
  }
}

/** Teams whose lists were looked at last. */
const MOST_WATCHES = 1_000;

/** The watches of an isolate by team. */
export class ListWatches {
  readonly #watches = new Map<string, ListWatch>();

  of(team: string): ListWatch {
    const watch = this.#watches.get(team) ?? new ListWatch();
    this.#watches.delete(team);
    this.#watches.set(team, watch);
    for (const oldest of this.#watches.keys()) {
      if (this.#watches.size <= MOST_WATCHES) break;
      this.#watches.delete(oldest);
    }
    return watch;
  }
}
