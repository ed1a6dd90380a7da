import type { JsonObject } from "../config/run-config.ts";
import { shuffled } from "./shuffle.ts";
import type { RowSource } from "./examples.ts";
import type { RolloutInput } from "./types.ts";

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
