import { z } from "zod";
import type { JsonObject } from "../../config/plan/run-config.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { fileRows } from "../file-rows.ts";
import type { ByteSource, DatasetHost } from "../host.ts";
import { filesOfSplit } from "./hub-files.ts";
import { hubHeaders, hubJson, hubRefusal } from "./hub-request.ts";
import { viewerRows } from "./hub-rows.ts";
import { chooseSplit, type HubSplit } from "./hub-split.ts";
import type { DatasetSpec } from "../spec.ts";
import { webSource } from "../web.ts";

const parquetAnswer = z.object({
  parquet_files: z.array(z.object({ config: z.string(), split: z.string(), url: z.url(), filename: z.string() })),
  partial: z.boolean().default(false),
});
const splitsAnswer = z.object({ splits: z.array(z.object({ config: z.string(), split: z.string() })) });

/**
 * Rows of a data set of the Hugging Face Hub. Without a revision: the Parquet files into which the Hub converts every public set,
 * by range reads, and where it has none the pages of its viewer. With one: the files of the repository at that revision. Throws
 * `dataset_unreadable` with what to set (`HF_TOKEN`, `dataset_config`, `dataset_split`).
 */
export async function* hubRows(host: DatasetHost, id: string, spec: DatasetSpec): AsyncGenerator<JsonObject> {
  if (spec.revision !== null) {
    for (const source of await filesOfSplit(host, id, spec.revision, spec)) yield* fileRows(source);
    return;
  }
  const query = `dataset=${encodeURIComponent(id)}`;
  const converted = await hubJson(host, `${host.hub.viewer}/parquet?${query}`, parquetAnswer, id);
  const files = converted.ok && !converted.value.partial ? converted.value.parquet_files : [];
  if (files.length === 0) {
    const listed = await hubJson(host, `${host.hub.viewer}/splits?${query}`, splitsAnswer, id);
    if (!listed.ok) throw listed.refusal;
    yield* viewerRows(host, id, chooseSplit(id, listed.value.splits, spec));
    return;
  }
  const chosen = chooseSplit(id, files, spec);
  if (converted.ok && converted.revision !== null) host.note(`Data set ${id} (${chosen.config}, ${chosen.split}) at revision ${converted.revision}.`);
  yield* convertedRows(
    host,
    id,
    chosen,
    files.filter(({ config, split }) => config === chosen.config && split === chosen.split).map(({ url }) => sourceOf(host, id, url)),
  );
}

/** A first file whose row groups are too large to be read here is no reason to give up: the viewer has the same rows in pages. */
async function* convertedRows(host: DatasetHost, id: string, chosen: HubSplit, sources: readonly ByteSource[]): AsyncGenerator<JsonObject> {
  let rows = 0;
  try {
    for (const source of sources)
      for await (const row of fileRows(source)) {
        rows++;
        yield row;
      }
  } catch (thrown) {
    if (rows > 0 || !(thrown instanceof EdgewiseError)) throw thrown;
    host.note(`The Parquet files of ${id} cannot be read here (${thrown.message}); reading its pages.`);
    yield* viewerRows(host, id, chosen);
  }
}

const sourceOf = (host: DatasetHost, id: string, url: string): ByteSource =>
  webSource(host, url, hubHeaders(host.hub, url), ({ status }) => hubRefusal(host.hub, id, status, null));
