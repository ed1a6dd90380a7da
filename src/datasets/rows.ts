import type { JsonObject } from "../config/plan/run-config.ts";
import { EdgewiseError } from "../errors/result.ts";
import { fileRows } from "./file-rows.ts";
import type { DatasetHost } from "./host.ts";
import { hubRows } from "./hub/hub.ts";
import { datasetReference } from "./reference.ts";
import { type DatasetSpec, renameColumns } from "./spec.ts";
import { webSource } from "./web.ts";

/** Rows of a data set, read as they are asked for and no further. Throws `dataset_unreadable`, or `invalid_request` naming an argument. */
export async function* datasetRows(spec: DatasetSpec, host: DatasetHost): AsyncGenerator<JsonObject> {
  for await (const row of rawRows(spec, host)) yield renameColumns(row, spec.columns);
}

async function* rawRows(spec: DatasetSpec, host: DatasetHost): AsyncGenerator<JsonObject> {
  const reference = datasetReference(spec.dataset);
  if (reference.kind === "hub") yield* hubRows(host, reference.id, spec);
  else if (reference.kind === "url") yield* fileRows(webSource(host, reference.url));
  else {
    const upload = await host.upload(reference.digest);
    if (upload === null)
      throw new EdgewiseError("dataset_unreadable", `There is no upload sha256:${reference.digest.slice(0, 12)}….`, {
        hint: "Upload it with PUT /api/v1/datasets/{sha256}, then try again.",
      });
    yield* fileRows(upload);
  }
}
