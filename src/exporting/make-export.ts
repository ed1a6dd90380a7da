import type { RunView } from "../../durable-objects/run/control.ts";
import { runStub } from "../../durable-objects/stubs.ts";
import type { Env } from "../env.ts";
import { EdgewiseError } from "../errors/result.ts";
import { cardText } from "../exports/card.ts";
import type { CardRun } from "../exports/card-run.ts";
import { exportColumns, metricColumns } from "../exports/columns.ts";
import { encoderOf } from "../exports/formats.ts";
import { exportedRows, type PlacedCells } from "../exports/result-lines.ts";
import { type RunFacts, runFacts, statedAggregates } from "../exports/run-facts.ts";
import { RowsAhead, SHARD_BYTES, shardPath, writeShard } from "../exports/shards.ts";
import { sha256Hex } from "../config/sha256.ts";
import { statedRowsDigest } from "../rollouts/rows/rows-digest.ts";
import { steadyNow } from "../steady-clock.ts";
import { VERSION } from "../version.ts";
import { ExportPlace } from "./export-place.ts";
import type { ExportState } from "./export-state.ts";
import { FileUpload } from "./file-upload.ts";
import { sendExportTask } from "./export-task.ts";

/** After this time the rest is another invocation's: one has 300 s of processor time, and whoever is killed loses one file. */
const SLICE_MS = 60_000;

export interface ExportLimits {
  readonly slice_ms?: number;
  readonly shard_bytes?: number;
}

/**
 * Goes on with the Parquet files of a settled run, from R2 to R2, as far as its slice goes, and has the rest sent on. A file at a time is written, from
 * where the one before ended: so whoever is killed loses a file, and a task that comes twice writes the same bytes again. A run that is gone, or
 * works again, leaves nothing.
 */
export async function makeExport(env: Env, run: string, { slice_ms = SLICE_MS, shard_bytes = SHARD_BYTES }: ExportLimits = {}): Promise<void> {
  const began = steadyNow();
  const view = await runStub(env, run).view();
  if (view === null || view.phase !== "settled") return;
  const place = new ExportPlace(env.BUCKET, view.config, view.generation);
  const metadata = await metadataOf(place);
  const stored = (await place.state()) ?? (await begun(place, metadata.facts));
  let { state, etag } = stored;
  while (!state.done) {
    if (steadyNow() - began > slice_ms) return await sendExportTask(env, run);
    const next =
      state.offset < state.size || state.files.length === 0 ? await writeFile(place, state, shard_bytes) : await writeCard(place, state, view, metadata);
    const put = await place.store(next, etag);
    if (!(await isStill(env, run, view))) return await place.clear("all");
    // Somebody else is ahead, and has had the rest sent on if need be.
    if (put === null) return;
    [state, etag] = [next, put];
  }
}

interface Metadata {
  readonly value: unknown;
  readonly facts: RunFacts;
}

export async function metadataOf(place: ExportPlace): Promise<Metadata> {
  const stream = await place.read("metadata.json");
  const value: unknown = stream === null ? null : await new Response(stream).json();
  const facts = runFacts(value);
  if (facts === null)
    throw new EdgewiseError("storage_damaged", "The metadata of this run are missing in storage.", { hint: "Resume the run: that writes them again." });
  return { value, facts };
}

/** As it stands before the first file. Files of an earlier generation have other rows. `instead`: of the state that it replaces. */
export async function begun(
  place: ExportPlace,
  { metrics }: Pick<RunFacts, "metrics">,
  instead: string | null = null,
): Promise<{ readonly state: ExportState; readonly etag: string }> {
  await place.clear("others");
  const size = (await place.size("results.jsonl")) ?? 0;
  const state: ExportState = { version: 1, metrics: metricColumns(metrics), files: [], offset: 0, size, done: false, card: 0, updated_at: steadyNow() };
  const etag = await place.store(state, instead);
  const there = etag === null ? await place.state() : { state, etag };
  if (there === null) throw new EdgewiseError("storage_unavailable", "The state of an export came and went.");
  return there;
}

async function writeFile(place: ExportPlace, state: ExportState, limit: number): Promise<ExportState> {
  const { files, metrics, size } = state;
  const stream = state.offset < size ? await place.read("results.jsonl", state.offset) : null;
  if (stream === null && state.offset < size) throw new EdgewiseError("storage_damaged", "The results of this run are missing in storage.");
  const encoder = encoderOf("parquet", exportColumns(metrics, false));
  const upload = new FileUpload(place, `${files.length}.parquet`);
  const rows = new RowsAhead<PlacedCells>(exportedRows(stream, state.offset, metrics));
  let { offset } = state;
  const onRow = ({ end }: PlacedCells): void => {
    offset = end;
  };
  try {
    const count = await writeShard(rows, encoder, (bytes) => upload.write(bytes), { limit, onRow });
    // Blank lines at the end are no rows.
    if (!(await rows.hasNext())) offset = size;
    return { ...state, files: [...files, { rows: count, ...(await upload.finish()), marks: encoder.marks }], offset, updated_at: steadyNow() };
  } finally {
    await rows.close();
  }
}

async function writeCard(place: ExportPlace, state: ExportState, view: RunView, { value, facts }: Metadata): Promise<ExportState> {
  const card = cardText({
    runs: [cardRunOf(view, value, facts)],
    format: "parquet",
    columns: exportColumns(state.metrics, false),
    metrics: state.metrics.map(({ metric }) => metric),
    files: state.files.map((file, shard) => ({ path: shardPath("parquet", shard, state.files.length), ...file })),
    command: `npx edgewise export ${view.config.run_id} --format parquet`,
    notes: [],
    version: VERSION,
  });
  const bytes = new TextEncoder().encode(card);
  await place.put("README.md", bytes);
  return { ...state, done: true, card: bytes.byteLength, card_sha256: await sha256Hex(bytes), updated_at: steadyNow() };
}

/** The run as its card tells of it; `value`: its metadata. */
export const cardRunOf = ({ totals }: RunView, value: unknown, facts: RunFacts): CardRun => ({
  facts,
  aggregates: { ...statedAggregates(value, totals.errors), rollouts: totals.rollouts },
  rowsDigest: statedRowsDigest(value)?.sha256 ?? null,
});

/** What is written after a run was deleted would stay for ever: so it is looked after each put, and taken away by whoever comes last. */
async function isStill(env: Env, run: string, { generation }: RunView): Promise<boolean> {
  const now = await runStub(env, run).view();
  return now !== null && now.phase === "settled" && now.generation === generation;
}
