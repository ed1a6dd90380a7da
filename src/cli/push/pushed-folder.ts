import { ENVIRONMENT_ID } from "../../api/environment-ids.ts";
import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { KIB } from "../../limits.ts";
import { rowText } from "../../rollouts/rows/row-text.ts";
import type { RunFacts } from "../../exports/run-facts.ts";
import type { OpenedRow, OpenedRun } from "../exports/opened-run.ts";

/** A results folder as the requests that push it, in the form of `prime eval push`. Pure. */

/** Bytes of one batch: the service takes 100 MB, and the command holds one. */
export const BATCH_BYTES = 16 * KIB * KIB;
/** Of the metadata that go along: a request has a MiB in all. */
const MAX_METADATA_CHARACTERS = 512 * KIB;

const isObject = (value: unknown): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value);

/** What creates the evaluation: averages as `metrics`, everything else as `metadata`. */
export function bodyOf(
  { facts, metadata, name }: Pick<OpenedRun, "metadata" | "name"> & { readonly facts: Pick<RunFacts, "env_id" | "model"> },
  isPublic: boolean,
): JsonObject {
  const file = isObject(metadata) ? metadata : {};
  const metrics: JsonObject = {};
  const rest: JsonObject = {};
  for (const [key, value] of Object.entries(file)) {
    if (key === "edgewise" || value === null) continue;
    if (key.startsWith("avg_")) metrics[key.slice("avg_".length)] = value;
    else rest[key] = value;
  }
  // Descriptions of tools are what grows.
  if (JSON.stringify(rest).length > MAX_METADATA_CHARACTERS) delete rest.tools;
  return {
    name: (ownName(file) ?? lastPart(name) ?? facts.env_id).slice(0, 200),
    environments: [{ id: environmentIdOf(facts.env_id) }],
    model_name: facts.model,
    framework: "verifiers",
    tags: [],
    metadata: rest,
    metrics,
    is_public: isPublic,
  };
}

/** Environments of other programs are called as their people like: what is no part of an id here becomes hyphens. */
export function environmentIdOf(name: string): string {
  if (ENVIRONMENT_ID.test(name)) return name;
  const plain = name.replaceAll(/[^\w.-]+/g, "-").replaceAll(/^[^A-Za-z0-9]+|-+$/g, "");
  return plain === "" ? "unknown" : plain;
}

function ownName({ edgewise, name }: JsonObject): string | undefined {
  const settings: Json | undefined = isObject(edgewise) ? edgewise.settings : undefined;
  const own = isObject(settings) ? settings.name : undefined;
  return [own, name].find((text): text is string => typeof text === "string" && text !== "");
}

/** The path that was typed says where somebody keeps things, and the same folder is one evaluation from wherever it is pushed. */
function lastPart(folder: string): string | undefined {
  return folder.split(/[/\\]/).findLast((part) => part !== "" && part !== "." && part !== "..");
}

/** A row as a sample; rows of 2025 call the example `id`. */
export function sampleText({ text, value }: OpenedRow): string {
  return value.example_id === undefined && value.id !== undefined ? rowText({ ...value, example_id: value.id }) : text;
}

/** Samples as they are sent, and which row of the file each is, from 1. */
export interface Batch {
  readonly samples: readonly string[];
  readonly rows: readonly number[];
}

/** Samples of so many bytes at a time, the same ones each time. */
export async function* batchesOf(rows: AsyncIterable<OpenedRow>): AsyncGenerator<Batch> {
  let batch: { samples: string[]; rows: number[] } = { samples: [], rows: [] };
  let bytes = 0;
  for await (const row of rows) {
    const text = sampleText(row);
    const length = Buffer.byteLength(text) + 1;
    if (batch.rows.length > 0 && bytes + length > BATCH_BYTES) {
      yield batch;
      batch = { samples: [], rows: [] };
      bytes = 0;
    }
    batch.samples.push(text);
    batch.rows.push(row.number);
    bytes += length;
  }
  if (batch.rows.length > 0) yield batch;
}
