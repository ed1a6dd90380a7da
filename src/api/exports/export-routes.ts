import { type Context, Hono } from "hono";
import type { RunView } from "../../../durable-objects/run/control.ts";
import { exportKey, outputKey } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { exportColumns, metricColumns } from "../../exports/columns.ts";
import { encoderOf, EXPORT_TYPES, type ExportFormat } from "../../exports/formats.ts";
import { exportedRows } from "../../exports/result-lines.ts";
import { runFacts } from "../../exports/run-facts.ts";
import { shardPath } from "../../exports/shards.ts";
import type { ExportState } from "../../exporting/export-state.ts";
import { streamOf } from "../../stream-of.ts";
import type { AppContext } from "../app-context.ts";
import { check } from "../body.ts";
import { viewOf } from "../runs/run-of.ts";
import { attached, sendObject } from "../runs/send-object.ts";
import { exportQuery } from "./export-schemas.ts";

/** The rows of a settled run in other formats: text as it is read, Parquet made once by a task of the queue. */
export const exports = new Hono<AppContext>();

/** Seconds after which whoever waits for Parquet asks again. */
const AGAIN_S = 2;

exports.get("/:id/export", async (c) => {
  const { format } = check(exportQuery, c.req.query(), "query");
  const view = await settled(c);
  if (format !== "parquet") return await streamed(c, view, format);
  const state = await c.var.ports.parquet(view);
  const { run_id } = view.config;
  if (state.done) return c.json({ status: "done" as const, run_id, rows: rowsOf(state), files: filesOf(state, run_id) });
  return c.json({ status: "making" as const, run_id, rows: rowsOf(state), files: [] }, 202, { "retry-after": String(AGAIN_S) });
});

/** The card and the files of Parquet, by the paths that the card names them by. */
exports.get("/:id/export/:path{.+}", async (c) => {
  const view = await settled(c);
  const state = await c.var.ports.parquet(view);
  if (!state.done)
    throw new EdgewiseError("run_busy", "The export is being made.", { hint: "GET /evaluations/{id}/export?format=parquet says when it is there." });
  const { run_id } = view.config;
  const path = c.req.param("path");
  const at = filesOf(state, run_id).findIndex((file) => file.path === path);
  const file = filesOf(state, run_id)[at];
  if (file === undefined)
    throw new EdgewiseError("not_found", "No such file.", { hint: "GET /evaluations/{id}/export?format=parquet names those that there are." });
  const isCard = at === 0;
  return await sendObject(c, {
    key: exportKey(run_id, view.generation, isCard ? path : `${at - 1}.parquet`),
    size: file.bytes,
    name: path.split("/").at(-1) ?? path,
    type: isCard ? "text/markdown; charset=utf-8" : EXPORT_TYPES.parquet,
  });
});

async function settled(c: Context<AppContext>): Promise<RunView> {
  const view = await viewOf(c);
  if (view.phase === "settled") return view;
  throw new EdgewiseError("run_busy", "The results are not complete yet.", {
    hint: "Follow the run, or export the examples that are done with `npx edgewise export`.",
  });
}

const rowsOf = ({ files }: ExportState): number => files.reduce((sum, { rows }) => sum + rows, 0);

/** The card first. */
function filesOf({ files, card }: ExportState, runId: string): { readonly path: string; readonly bytes: number; readonly url: string }[] {
  const named = files.map(({ bytes }, at) => ({ path: shardPath("parquet", at, files.length), bytes }));
  return [{ path: "README.md", bytes: card }, ...named].map((file) => ({ ...file, url: `/api/v1/evaluations/${runId}/export/${file.path}` }));
}

/** Made while it is read: nothing of it is kept, here or in memory. */
async function streamed(c: Context<AppContext>, { config, totals }: RunView, format: Exclude<ExportFormat, "parquet">): Promise<Response> {
  const { store } = c.var.ports;
  const { env_id, model, run_id } = config;
  const metadata = await store.read(outputKey(env_id, model, run_id, "metadata.json"));
  const facts = metadata === null ? null : runFacts(await new Response(metadata).json());
  const rows = await store.read(outputKey(env_id, model, run_id, "results.jsonl"));
  if (facts === null || (rows === null && totals.rollouts > 0))
    throw new EdgewiseError("storage_unavailable", "The results of this run are missing in storage.");
  const metrics = metricColumns(facts.metrics);
  const encoder = encoderOf(format, exportColumns(metrics, false));
  const chunks = async function* (): AsyncGenerator<Uint8Array> {
    for await (const { cells, bytes } of exportedRows(rows, 0, metrics)) {
      const chunk = encoder.add(cells, bytes);
      if (chunk !== null) yield chunk;
    }
    yield encoder.finish();
  };
  return c.body(streamOf(chunks()), 200, { ...attached(`${run_id}.${format}`), "content-type": EXPORT_TYPES[format] });
}
