import { z } from "zod";
import type { JsonObject } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { datasetReference } from "./reference.ts";

/** Which rows an evaluation uses: the arguments every environment takes, after its own defaults. */
export interface DatasetSpec {
  readonly dataset: string;
  readonly config: string | null;
  readonly split: string | null;
  /** A branch, tag or commit of a Hub repository. */
  readonly revision: string | null;
  /** Column as the environment calls it → column of the data. */
  readonly columns: Readonly<Record<string, string>>;
}

/** The branch of a Hub repository into which the Hub converts it; what a script makes is converted no more, and stays there as it was. */
export const CONVERTED_REVISION = "refs/convert/parquet";

const name = z.string().min(1).max(200);

/** The arguments of every environment that say where its rows come from. */
export const DATASET_ARGS = {
  dataset: z.string().max(2048).optional().describe("rows: a Hugging Face id, sha256:<digest> of an upload, an https URL, or on the command line a local file"),
  dataset_config: name.optional().describe("configuration (subset) of a Hugging Face data set"),
  dataset_split: name.optional().describe("split of a Hugging Face data set"),
  dataset_revision: name.optional().describe("branch, tag or commit of a Hugging Face data set"),
  dataset_columns: z.record(name, name).optional().describe('columns under other names, as in {"question": "problem"}'),
} as const;

export type DatasetArgs = z.infer<z.ZodObject<typeof DATASET_ARGS>>;

/** What an environment reads when its caller says nothing. */
export interface DatasetDefaults {
  readonly dataset: string;
  readonly config?: string;
  readonly split?: string;
  readonly revision?: string;
  readonly columns?: Readonly<Record<string, string>>;
}

/**
 * The rows that the arguments mean; null when neither they nor the environment name any. The environment's configuration, split,
 * revision and columns belong to its own data set: another `dataset` begins without them. Throws `invalid_request` naming the argument.
 */
export function datasetSpec(args: DatasetArgs, defaults: DatasetDefaults | null): DatasetSpec | null {
  const base = args.dataset === undefined || args.dataset === defaults?.dataset ? defaults : null;
  const dataset = args.dataset ?? base?.dataset;
  if (dataset === undefined) {
    const lonely = Object.keys(DATASET_ARGS).find((key) => args[key as keyof DatasetArgs] !== undefined);
    if (lonely !== undefined) throw new EdgewiseError("invalid_request", `argument ${lonely} says how to read a data set, and argument dataset names none`);
    return null;
  }
  const { kind } = datasetReference(dataset);
  const ofHub = (["dataset_config", "dataset_split", "dataset_revision"] as const).find((key) => args[key] !== undefined);
  if (kind !== "hub" && ofHub !== undefined) {
    throw new EdgewiseError("invalid_request", `argument ${ofHub} is for data sets of the Hugging Face Hub; ${dataset.slice(0, 100)} is a file`);
  }
  return {
    dataset,
    config: args.dataset_config ?? base?.config ?? null,
    split: args.dataset_split ?? base?.split ?? null,
    revision: args.dataset_revision ?? base?.revision ?? null,
    columns: args.dataset_columns ?? base?.columns ?? {},
  };
}

/** What people call it: an id with what was chosen of it, or an address without its query. Null for an upload, whose name only who made it knows. */
export function datasetName({ dataset, config, split, revision }: DatasetSpec): string | null {
  const reference = datasetReference(dataset);
  switch (reference.kind) {
    case "hub": {
      const chosen = [config, split, revision].filter((part) => part !== null);
      return chosen.length === 0 ? dataset : `${dataset} (${chosen.join(", ")})`;
    }
    case "digest":
      return null;
    default:
      return dataset.replace(/[?#].*$/s, "");
  }
}

/** `row` with its columns under the environment's names; a column that is read under two names stands under both. Throws `dataset_unreadable`. */
export function renameColumns(row: JsonObject, columns: Readonly<Record<string, string>>): JsonObject {
  const wanted = Object.entries(columns);
  if (wanted.length === 0) return row;
  const renamed: JsonObject = {};
  const sources = new Set(Object.values(columns));
  for (const [key, value] of Object.entries(row)) if (!sources.has(key) && !Object.hasOwn(columns, key)) renamed[key] = value;
  for (const [to, from] of wanted) {
    const value = row[from];
    if (value === undefined)
      throw new EdgewiseError("dataset_unreadable", `dataset_columns: the data has no column ${JSON.stringify(from)}; it has ${Object.keys(row).join(", ")}`);
    renamed[to] = value;
  }
  return renamed;
}
