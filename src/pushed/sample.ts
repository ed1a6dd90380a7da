import type { JsonObject } from "../config/plan/run-config.ts";
import { type ForeignRow, readForeignRow } from "../rollouts/rows/foreign-row.ts";
import { failureOf } from "../errors/result.ts";
import { BatchError, type ScannedSample } from "./scanned-sample.ts";

/** By what samples are sorted and grouped: numbers first, then texts; one without an example is an example of its own. */
export interface ExampleKey {
  readonly rank: 0 | 1 | 2;
  readonly number: number;
  readonly text: string;
}

/** Characters of an id. */
export const MAX_ID = 256;

/** A sample as a row. Throws a `BatchError` for what is no JSON object, or has an id of a wrong kind. */
export function readSample({ position, bytes }: ScannedSample): ForeignRow {
  const field = `samples.${position}`;
  const row = sampleIn(field, bytes);
  const { example_id: example, sample_id: sample, reward } = row.value;
  if (example !== undefined && example !== null && !(typeof example === "number" && Number.isFinite(example)) && !isId(example))
    throw new BatchError(`${field}.example_id`, `must be a number, or a text of at most ${MAX_ID} characters`);
  if (sample !== undefined && sample !== null && !isId(sample)) throw new BatchError(`${field}.sample_id`, `must be a text of at most ${MAX_ID} characters`);
  if (reward !== undefined && reward !== null && typeof reward !== "number" && typeof reward !== "boolean")
    throw new BatchError(`${field}.reward`, "must be a number");
  return row;
}

/** A JSON object in the bytes of a sample. Throws a `BatchError` for anything else; `field` is what it calls it. */
export function sampleIn(field: string, bytes: Uint8Array): ForeignRow {
  try {
    return readForeignRow(new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes));
  } catch (thrown) {
    throw new BatchError(field, thrown instanceof TypeError ? "is not UTF-8" : `is no JSON object: ${failureOf(thrown).message}`);
  }
}

export const isId = (value: unknown): value is string => typeof value === "string" && value !== "" && value.length <= MAX_ID;

/** Id that its sender gave a sample: the same one is the same sample. */
export const sampleIdOf = ({ sample_id: id }: JsonObject): string | null => (isId(id) ? id : null);

/** The example of a sample, and which attempt at it this is, as far as it says (from 0). */
export function placeOf(value: JsonObject, batch: number, position: number): { readonly key: ExampleKey; readonly attempt: number } {
  const { example_id: example, rollout_index: index, rollout_number: number } = value;
  const attempt = isCount(index) ? index : isCount(number) && number > 0 ? number - 1 : 0;
  if (typeof example === "number") return { key: { rank: 0, number: example, text: "" }, attempt };
  if (typeof example === "string") return { key: { rank: 1, number: 0, text: example }, attempt };
  return { key: { rank: 2, number: batch, text: String(position).padStart(9, "0") }, attempt };
}

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
