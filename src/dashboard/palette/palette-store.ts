import { signal } from "@preact/signals";
import { singleLine } from "../../report/text/printable.ts";
import { runAddress } from "../address/links.ts";
import type { EvaluationList } from "../api/answers.ts";
import type { Api } from "../api/ask.ts";

/** A page that one goes to from everywhere. `key`: behind `g`. */
export interface NamedPlace {
  readonly path: string;
  readonly name: string;
  readonly key: string;
}

/** Something that the palette leads to. */
export interface Way {
  readonly kind: "Pages" | "Runs";
  readonly name: string;
  /** What tells it from others of the same name. */
  readonly about: string;
  readonly path: string;
}

/** Runs that are shown at once. */
const MOST_RUNS = 8;
/** After the last key. */
const TYPING_MS = 150;

/** Pages whose name has every word of `text` in it; all of them where there is none. */
export function pagesLike(text: string, places: readonly NamedPlace[]): readonly Way[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const found = places.filter(({ name }) => words.every((word) => name.toLowerCase().includes(word)));
  return found.map(({ path, name, key }) => ({ kind: "Pages", name, about: `g ${key}`, path }));
}

/** What is typed, and where that may lead: pages at once, runs as the service finds them. */
export class PaletteStore {
  readonly ways = signal<readonly Way[]>([]);
  /** Why runs could not be looked for. */
  readonly problem = signal<string | null>(null);
  /** Runs of what is typed are not known yet. */
  readonly isLooking = signal(true);
  readonly #api: Api;
  readonly #places: readonly NamedPlace[];
  #asked: AbortController | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(api: Api, places: readonly NamedPlace[]) {
    this.#api = api;
    this.#places = places;
  }

  look(text: string): void {
    this.close();
    this.isLooking.value = true;
    const pages = pagesLike(text, this.#places);
    // Runs of the text before stay until there are others: nothing jumps while somebody types.
    this.ways.value = [...pages, ...this.ways.value.filter(({ kind }) => kind === "Runs")];
    this.#timer = setTimeout(() => void this.#find(text, pages), TYPING_MS);
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#asked?.abort();
  }

  async #find(text: string, pages: readonly Way[]): Promise<void> {
    const asked = new AbortController();
    this.#asked = asked;
    const search = text.trim().slice(0, 200);
    try {
      const query = { limit: MOST_RUNS, search: search === "" ? undefined : search };
      const answer = await this.#api.ask<EvaluationList>("/evaluations/", { query, signal: asked.signal });
      this.isLooking.value = false;
      this.problem.value = answer.ok ? null : answer.problem.text;
      if (answer.ok) this.ways.value = [...pages, ...answer.value.evaluations.map(wayToRun)];
    } catch {
      // Given up: something else is looked for.
    }
  }
}

const wayToRun = ({ evaluation_id, name, model_name }: EvaluationList["evaluations"][number]): Way => ({
  kind: "Runs",
  name: singleLine(name),
  about: `${evaluation_id} ${singleLine(model_name)}`,
  path: runAddress(evaluation_id),
});

/** What is said where nothing is called as it was typed: what can be typed. */
export const nothingText = (typed: string): string =>
  `No page and no run is called “${singleLine(typed.trim()).slice(0, 80)}”. Type the name of a page, such as Runs, or the name, id, environment or model of a run.`;
