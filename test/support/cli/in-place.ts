/** A workplace and a model server for one test, so that tests of a file can run at the same time. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Workplace } from "./cli-process.ts";
import type { ScriptInput } from "../model-server/model-script.ts";
import { type ModelServer, startModelServer } from "../model-server/model-server.ts";
import { type JsonRow, jsonRows } from "../results/results-check.ts";

export class Bench {
  readonly place: Workplace;
  readonly model: ModelServer;

  constructor(place: Workplace, model: ModelServer) {
    this.place = place;
    this.model = model;
  }

  /** Arguments of a run of `reverse-text` against the model server. */
  reverse(...more: readonly string[]): string[] {
    return ["eval", "run", "reverse-text", "-m", "scripted", "-b", this.model.url, ...more];
  }

  get rows(): readonly JsonRow[] {
    return jsonRows(readFileSync(join(this.place.results, "results.jsonl"), "utf8"));
  }

  get metadata(): Readonly<Record<string, unknown>> & { readonly edgewise: Readonly<Record<string, unknown>> } {
    return JSON.parse(readFileSync(join(this.place.results, "metadata.json"), "utf8"));
  }
}

/** `rollouts` keys `example_id/rollout_index` per example, in the order of a finished file. */
export const grid = (examples: number, rollouts: number): string[] =>
  Array.from({ length: examples * rollouts }, (_, i) => `${Math.floor(i / rollouts)}/${i % rollouts}`);

export const keysOfRows = (rows: readonly JsonRow[]): string[] => rows.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`);

/** A test body with a bench of its own, which is cleared away whatever happens. */
export function inPlace(script: ScriptInput, test: (bench: Bench) => Promise<void>): () => Promise<void> {
  return async () => {
    const place = new Workplace();
    const model = await startModelServer(script);
    try {
      await test(new Bench(place, model));
    } finally {
      place.remove();
      await model.close();
    }
  };
}
