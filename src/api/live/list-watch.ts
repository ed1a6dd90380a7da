import type { RegistryControl } from "../../../durable-objects/registry/registry-control.ts";
import { unlessOlder } from "../older-object.ts";
import { readTwice } from "../read-twice.ts";

/** One look at the list of a team for all streams of this isolate, as RunWatch is one at a run: data only, since no request may wait for another one's. */
export class ListWatch {
  #seen: { readonly text: string; readonly at: number } | null = null;

  /** What the Registry last said of its changes, at most `everyMs` old. */
  async step(registry: () => RegistryControl, now: () => number, everyMs: number): Promise<string> {
    if (this.#seen !== null && now() - this.#seen.at < everyMs) return this.#seen.text;
    const text = await unlessOlder(
      readTwice(registry, (stub) => stub.listChanges()),
      "",
    );
    this.#seen = { text, at: now() };
    return text;
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
