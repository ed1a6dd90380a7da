import type { Grant, TicketTask } from "../../durable-objects/run/protocol.ts";
import { outputKey, segmentKey, segmentName } from "../../r2-layout/keys.ts";
import { type ReadSegment, readPart } from "../../r2-layout/read-part.ts";
import { failureOf } from "../errors/result.ts";
import { type RowsDigest, RowsDigester } from "../rollouts/rows/rows-digest.ts";
import { evalLog } from "../report/logs/eval-log.ts";
import { metadataText, type RunMetadata } from "../report/metadata.ts";
import { runScores } from "../report/run-scores.ts";
import { FINALISE_BYTES } from "../limits.ts";
import { damageOf } from "./damage.ts";
import { ticketOf } from "./keep-alive.ts";
import type { ExecutorPorts } from "./ports.ts";
import type { Slice } from "./slice.ts";
import { writeText } from "./write-text.ts";

/** Of one part beside its reads: the window, the put of the part, and the word that it is there. */
const CALLS_PER_PART = 3;
/** Metadata read and written, and the word that all is there. */
const CALLS_AT_END = 3;

type FinaliseTask = Extract<TicketTask, { kind: "finalise" }>;

interface Written {
  /** Null where an executor of before wrote some of it. */
  readonly digest: RowsDigest | null;
}

/** Writes `results.jsonl` window by window; the Run keeps the position, so that any executor can go on where one stopped. Null when the ticket is lost, or the slice over. */
async function writeResults(ports: ExecutorPorts, grant: Grant, key: string, mark: string, signal: AbortSignal, slice: Slice): Promise<Written | null> {
  const runId = grant.config.run_id;
  const ticket = ticketOf(grant);
  // One buffer for all parts: a new one each would be garbage of the run's size before anything collects it.
  let room = new Uint8Array(0);
  let digester: RowsDigester | null = null;
  let segments = 0;
  const read: ReadSegment = (segment, offset, length) => {
    signal.throwIfAborted();
    slice.spend();
    return ports.store.read(segmentKey(runId, segment), offset, length);
  };
  for (;;) {
    signal.throwIfAborted();
    slice.spend(CALLS_PER_PART);
    const window = await ports.run(runId).window(ticket);
    if (window.kind === "complete") {
      if (window.upload_id !== null) await ports.store.completeUpload(key, window.upload_id, window.parts, mark);
      digester ??= window.digest === undefined ? null : new RowsDigester(window.digest);
      return { digest: (await digester?.result()) ?? null };
    }
    if (window.kind === "sort") {
      if (room.byteLength < window.bytes) room = new Uint8Array(window.bytes);
      const rows = await readPart({ ...window, skip: 0 }, room, read);
      const segment = segmentName(grant.ticket, grant.epoch, ++segments);
      if ((await ports.store.create(segmentKey(runId, segment), rows)) === "other") throw new Error(`${segment} is taken`);
      if ((await ports.run(runId).sorted({ ...ticket, lo: window.lo, hi: window.hi, segment })).kind !== "ok") return null;
      if (slice.isOver) return null;
      continue;
    }
    if (window.kind !== "part") return null;
    if (window.part === 1) digester = new RowsDigester();
    else digester ??= window.digest === undefined ? null : new RowsDigester(window.digest);
    if (room.byteLength < window.bytes) room = new Uint8Array(window.bytes);
    const bytes = await readPart(window, room, read);
    await digester?.add(bytes);
    if (window.last && window.part === 1) {
      await ports.store.put(key, bytes, "application/x-ndjson");
      return { digest: (await digester?.result()) ?? null };
    }
    const uploadId = window.upload_id ?? (await startUpload(ports, grant, key, mark));
    if (uploadId === null) return null;
    const etag = await ports.store.uploadPart(key, uploadId, window.part, bytes);
    const digest = digester === null ? {} : { digest: digester.state };
    if ((await ports.run(runId).part({ ...ticket, part: window.part, etag, ...digest })).kind !== "ok") return null;
    // At least one part for each grant: another executor goes on with the next.
    if (slice.isOver) return null;
  }
}

/** An upload of which the Run does not hear is dropped by R2 after a week. */
async function startUpload(ports: ExecutorPorts, grant: Grant, key: string, mark: string): Promise<string | null> {
  const upload_id = await ports.store.startUpload(key, "application/x-ndjson", mark);
  const answer = await ports.run(grant.config.run_id).upload({ ...ticketOf(grant), upload_id });
  return answer.kind === "ok" ? upload_id : null;
}

/** `eval.log` page by page. */
function logLines(ports: ExecutorPorts, runId: string, signal: AbortSignal, slice: Slice): AsyncGenerator<string> {
  return evalLog((after, limit) => {
    signal.throwIfAborted();
    slice.spend();
    return ports.run(runId).events(after, limit);
  });
}

/** Writes the three files of a settled run: rows first, `metadata.json` last, since readers take it as the sign that all is there. */
async function writeFiles(ports: ExecutorPorts, grant: Grant, task: FinaliseTask, signal: AbortSignal, slice: Slice): Promise<void> {
  const { run_id, env_id, model } = grant.config;
  const mark = `${run_id}-${task.generation}`;
  const written = await writeResults(ports, grant, outputKey(env_id, model, run_id, "results.jsonl"), mark, signal, slice);
  if (written === null) return;
  await writeText(ports.store, outputKey(env_id, model, run_id, "eval.log"), mark, logLines(ports, run_id, signal, slice), () => slice.spend());
  slice.spend(CALLS_AT_END);
  const found = (await ports.run(run_id).metadata()) as RunMetadata | null;
  // Deleted meanwhile.
  if (found === null) return;
  const rows_digest = written.digest;
  const metadata: RunMetadata = rows_digest === null ? found : { ...found, edgewise: { ...found.edgewise, rows_digest } };
  await ports.store.put(outputKey(env_id, model, run_id, "metadata.json"), new TextEncoder().encode(metadataText(metadata)), "application/json");
  const digest = rows_digest === null ? {} : { rows_digest };
  await ports.run(run_id).finalised({ ...ticketOf(grant), scores: runScores(metadata), ...digest });
}

/**
 * Writes the final files, as far as the slice goes. What is in the way is told to the Run: rows that can never be read again end it, and
 * what may pass is tried again, by whoever it asks next, but not for ever.
 */
export async function finaliseRun(ports: ExecutorPorts, grant: Grant, task: FinaliseTask, signal: AbortSignal, slice: Slice): Promise<void> {
  try {
    await ports.bytes.within(FINALISE_BYTES, signal, () => writeFiles(ports, grant, task, signal, slice));
  } catch (thrown) {
    if (signal.aborted) throw thrown;
    const damage = damageOf(thrown);
    const failure = damage ?? failureOf(thrown, "storage_unavailable");
    slice.spend();
    await ports.run(grant.config.run_id).fail({ ...ticketOf(grant), failure, ...(damage === null ? { passing: true } : {}) });
  }
}
