import type { JsonObject } from "../../config/plan/run-config.ts";
import { shuffled } from "./shuffle.ts";
import type { RowSource } from "./examples.ts";
import type { RolloutInput } from "../../rollouts/types.ts";

/** Rows as they are, or what reads them when they are asked for. */
export type DatasetSource = RowSource | readonly JsonObject[];

/** `source` as something that is read from the front. */
export function rowSource(source: DatasetSource): RowSource {
  if (typeof source === "function") return source;
  return async function* rows() {
    yield* source;
  };
}

/** The first `n` examples (below 1 = all). With a seed all are read, and the first `n` of the order that the seed gives are taken. */
export async function firstExamples(read: (count: number) => AsyncIterable<RolloutInput>, n: number, seed: number | null): Promise<RolloutInput[]> {
  const examples: RolloutInput[] = [];
  for await (const example of read(seed === null ? n : -1)) examples.push(example);
  if (seed === null) return examples;
  const order = shuffled(examples, seed);
  return n > 0 ? order.slice(0, n) : order;
}

/**
 * `n` of all examples (below 1 = all) as `seed` draws them, in the order of the data set. Reads it twice, once to count, so that no more
 * than a number per example is held.
 */
export async function* drawnExamples<Example>(read: (count: number) => AsyncIterable<Example>, n: number, seed: number): AsyncGenerator<Example> {
  let total = 0;
  for await (const _ of read(-1)) total++;
  const drawn = shuffled(
    Array.from({ length: total }, (_, index) => index),
    seed,
  );
  const chosen = new Set(n < 1 ? drawn : drawn.slice(0, n));
  let index = 0;
  for await (const input of read(-1)) if (chosen.has(index++)) yield input;
}
