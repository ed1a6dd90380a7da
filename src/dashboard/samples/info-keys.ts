import { signal } from "@preact/signals";
import type { RolloutOutline } from "../api/answers.ts";
import type { Api } from "../api/ask.ts";
import type { SamplePlace } from "../address/samples-view.ts";

/** Keys that are offered; `info` may have any number. */
const MOST_KEYS = 100;

/** What `info` has in it, by one rollout: names for a filter to offer, and columns to choose. */
export class InfoKeys {
  readonly keys = signal<readonly string[]>([]);
  readonly #id: string;
  readonly #api: Api;
  #asked = false;

  constructor(id: string, api: Api) {
    this.#id = id;
    this.#api = api;
  }

  /** Looks once, where somebody may want to know. */
  async look({ example, rollout }: SamplePlace): Promise<void> {
    if (this.#asked) return;
    this.#asked = true;
    const path = `/evaluations/${this.#id}/rollouts/${example}/${rollout}`;
    const outline = await this.#api.ask<RolloutOutline>(`${path}/outline`);
    if (!outline.ok) {
      this.#asked = false;
      return;
    }
    let { info } = outline.value.fields;
    if (info === undefined && outline.value.long.info !== undefined) {
      const row = await this.#api.ask<{ readonly info?: unknown }>(path);
      if (row.ok) info = row.value.info as typeof info;
    }
    this.keys.value = keysOf(info).slice(0, MOST_KEYS);
  }
}

/** Some libraries write it as JSON within JSON. */
function keysOf(info: unknown): readonly string[] {
  if (typeof info !== "string") return info !== null && typeof info === "object" && !Array.isArray(info) ? Object.keys(info) : [];
  try {
    const parsed: unknown = JSON.parse(info);
    return typeof parsed === "string" ? [] : keysOf(parsed);
  } catch {
    return [];
  }
}
