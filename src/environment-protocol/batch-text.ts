/**
 * Batches cross as JSON texts: of values whatever they are, hostile code could make stubs, streams and objects that answer calls. And the size of a text is
 * known before anything is made of it.
 */
export const textOf = (batch: readonly unknown[]): string => JSON.stringify(batch);

/** Throws `TypeError` and `SyntaxError` for what is no batch. */
export function batchOf(text: unknown): readonly unknown[] {
  if (typeof text !== "string") throw new TypeError("a batch is a text");
  const batch: unknown = JSON.parse(text);
  if (!Array.isArray(batch)) throw new TypeError("a batch is an array");
  return batch;
}
