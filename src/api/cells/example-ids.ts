import type { PinnedInputs } from "../../../durable-objects/run/reading/cells-protocol.ts";
import type { InputChunk } from "../../../durable-objects/run/protocol.ts";
import { inputsKey } from "../../../r2-layout/keys.ts";
import type { ExampleId } from "../../cells/column-lines.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { PinnedOrder } from "../../pinned-order.ts";
import type { ObjectStore } from "../app-ports.ts";
import { KnownIds } from "./known-ids.ts";

/** Examples that are looked at before all of them are taken to be called by their places: ids of a data set ascend, so those at its ends alone would do. */
const LOOKS = 4;

/** Of all runs of this isolate. */
const known = new KnownIds();

/**
 * What the data set calls the examples of a run, by their places in the results. Most call them by those: then a look or two at the pinned inputs says so. Of
 * others the inputs are read, a chunk at a time, as far as somebody asks.
 */
export class ExampleIds {
  readonly #store: ObjectStore;
  readonly #runId: string;
  readonly #inputs: PinnedInputs;
  readonly #order: PinnedOrder;
  #arePlaces: Promise<boolean> | null = null;

  constructor(store: ObjectStore, runId: string, inputs: PinnedInputs) {
    [this.#store, this.#runId, this.#inputs] = [store, runId, inputs];
    this.#order = new PinnedOrder(
      inputs.seed,
      inputs.parts.map(([lo, hi]) => ({ lo, hi })),
    );
  }

  async of(examples: readonly number[]): Promise<readonly ExampleId[]> {
    this.#arePlaces ??= this.#look();
    if (await this.#arePlaces) return examples;
    const ids: ExampleId[] = [];
    for (const example of examples) ids.push(await this.#read(example));
    return ids;
  }

  async #look(): Promise<boolean> {
    const examples = this.#inputs.chunks.at(-1)?.hi ?? 0;
    const looks = [...new Set(Array.from({ length: LOOKS }, (_, look) => Math.round(((examples - 1) * look) / (LOOKS - 1))))];
    for (const example of examples === 0 ? [] : looks) if ((await this.#read(example)) !== example) return false;
    return true;
  }

  /** The place itself where no input is pinned. */
  async #read(example: number): Promise<ExampleId> {
    const position = this.#order.positionOf(example);
    const chunk = this.#chunkWith(position);
    if (chunk === null) return example;
    return (await known.of(chunk.digest, () => this.#idsOf(chunk)))[position - chunk.lo] ?? null;
  }

  async #idsOf({ digest }: InputChunk): Promise<readonly ExampleId[]> {
    const key = inputsKey(this.#runId, digest);
    const body = await this.#store.read(key);
    if (body === null) throw new EdgewiseError("storage_unavailable", `${key} is missing in storage.`);
    const lines = (await new Response(body).text()).split("\n");
    return lines.filter((line) => line !== "").map((line) => (JSON.parse(line) as { readonly example_id: number }).example_id);
  }

  #chunkWith(position: number): InputChunk | null {
    const { chunks } = this.#inputs;
    let [low, high] = [0, chunks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((chunks[middle]?.hi ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    const chunk = chunks[low];
    return chunk !== undefined && chunk.lo <= position ? chunk : null;
  }
}
