import { z } from "zod";
import { EdgewiseError } from "../../errors/result.ts";
import type { ByteSource, DatasetHost } from "../host.ts";
import { hubHeaders, hubJson, hubRefusal } from "./hub-request.ts";
import { chooseSplit, type HubSplit } from "./hub-split.ts";
import { isDataFileName } from "../reference.ts";
import { CONVERTED_REVISION, type DatasetSpec } from "../spec.ts";
import { webSource } from "../web.ts";

const repositoryAnswer = z.object({ sha: z.string(), siblings: z.array(z.object({ rfilename: z.string() })) });

/**
 * The data files of one split at a revision, in order of their names. The revision is resolved to its commit first, so that all
 * files are of one state. Throws `dataset_unreadable`, or `invalid_request` listing the splits there are.
 */
export async function filesOfSplit(host: DatasetHost, id: string, revision: string, spec: DatasetSpec): Promise<ByteSource[]> {
  const { hub } = host;
  const repository = await hubJson(host, `${hub.endpoint}/api/datasets/${id}/revision/${encodeURIComponent(revision)}`, repositoryAnswer, id);
  if (!repository.ok) throw repository.refusal;
  const { sha, siblings } = repository.value;
  const read = revision === CONVERTED_REVISION ? convertedTableOf : tableOf;
  const tables = siblings.flatMap(({ rfilename }) => read(rfilename) ?? []);
  if (tables.length === 0) throw new EdgewiseError("dataset_unreadable", `The data set ${id} has no Parquet, JSONL or CSV file at revision ${revision}.`);
  const { config, split } = chooseSplit(id, tables, spec);
  host.note(`Data set ${id} (${config}, ${split}) at revision ${sha}.`);
  const files = tables.filter((table) => table.config === config && table.split === split).map(({ path }) => path);
  return files.sort().map((path) => {
    const url = `${hub.endpoint}/datasets/${id}/resolve/${sha}/${path.split("/").map(encodeURIComponent).join("/")}`;
    return webSource(host, url, hubHeaders(hub, url), ({ status }) => hubRefusal(hub, id, status, null));
  });
}

/** Of the branch of what the Hub converted: `config/split/0000.parquet`. */
function convertedTableOf(path: string): (HubSplit & { readonly path: string }) | null {
  const [, config, split] = /^([^/]+)\/([^/]+)\/\d+\.parquet$/.exec(path) ?? [];
  return config === undefined || split === undefined ? null : { config, split, path };
}

/** The words of the Hub for a split, in folder and file names. */
const SPLIT_WORDS: readonly (readonly [split: string, words: readonly string[]])[] = [
  ["train", ["train", "training"]],
  ["validation", ["validation", "valid", "val", "dev"]],
  ["test", ["test", "testing", "eval", "evaluation"]],
];
const SHARD = /^(.+?)-\d{5}-of-\d{5}/;

/** Which table a file is part of, by the Hub's rules for repositories without a list; null for what is no data file. */
export function tableOf(path: string): (HubSplit & { readonly path: string }) | null {
  if (!isDataFileName(path)) return null;
  const folders = path.split("/").slice(0, -1);
  const file = path.split("/").at(-1) ?? "";
  const stem = file.replace(/\.(?:jsonl?|ndjson|csv|tsv|parquet)(?:\.gz)?$/i, "");
  const shard = SHARD.exec(stem)?.[1];
  const splitFolder = folders.findLastIndex((folder) => splitWord(folder, true) !== null);
  const split = shard ?? splitWord(stem, false) ?? (splitFolder < 0 ? null : splitWord(folders[splitFolder] ?? "", true)) ?? "train";
  const config = folders.filter((folder, index) => index !== splitFolder && folder !== "data").join("/");
  return { config: config === "" ? "default" : config, split, path };
}

/** The split that `text` names: as a whole word of it, or with `whole` as all of it. */
function splitWord(text: string, whole: boolean): string | null {
  const words = whole ? [text.toLowerCase()] : text.toLowerCase().split(/[^a-z0-9]+/);
  return SPLIT_WORDS.find(([, names]) => names.some((name) => words.includes(name)))?.[0] ?? null;
}
