import type { Grant, TicketTask } from "../../durable-objects/run/protocol.ts";
import { outputKey, segmentKey } from "../../r2-layout/keys.ts";
import { readPart } from "../../r2-layout/read-part.ts";
import { evalLog } from "../report/eval-log.ts";
import { metadataText, type RunMetadata } from "../report/metadata.ts";
import { ticketOf } from "./keep-alive.ts";
import type { ExecutorPorts } from "./ports.ts";

type FinaliseTask = Extract<TicketTask, { kind: "finalise" }>;

/** Writes `results.jsonl` window by window; the Run keeps the position, so that any executor can go on where one stopped. False when the ticket is lost. */
async function writeResults(ports: ExecutorPorts, grant: Grant, key: string, mark: string, signal: AbortSignal): Promise<boolean> {
  const runId = grant.config.run_id;
  const ticket = ticketOf(grant);
  // One buffer for all parts: a new one each would be garbage of the run's size before anything collects it.
  let room = new Uint8Array(0);
  for (;;) {
    signal.throwIfAborted();
    const window = await ports.run(runId).window(ticket);
    if (window.kind === "complete") {
      if (window.upload_id !== null) await ports.store.completeUpload(key, window.upload_id, window.parts, mark);
      return true;
    }
    if (window.kind !== "part") return false;
    if (room.byteLength < window.bytes) room = new Uint8Array(window.bytes);
    const bytes = await readPart(window, room, (segment, offset, length) => {
      signal.throwIfAborted();
      return ports.store.read(segmentKey(runId, segment), offset, length);
    });
    if (window.last && window.part === 1) {
      await ports.store.put(key, bytes, "application/x-ndjson");
      return true;
    }
    const uploadId = window.upload_id ?? (await startUpload(ports, grant, key, mark));
    if (uploadId === null) return false;
    const etag = await ports.store.uploadPart(key, uploadId, window.part, bytes);
    if ((await ports.run(runId).part({ ...ticket, part: window.part, etag })).kind !== "ok") return false;
  }
}

/** An upload of which the Run does not hear is dropped by R2 after a week. */
async function startUpload(ports: ExecutorPorts, grant: Grant, key: string, mark: string): Promise<string | null> {
  const upload_id = await ports.store.startUpload(key, "application/x-ndjson", mark);
  const answer = await ports.run(grant.config.run_id).upload({ ...ticketOf(grant), upload_id });
  return answer.kind === "ok" ? upload_id : null;
}

/** Writes the three files of a settled run: rows first, `metadata.json` last, since readers take it as the sign that all is there. */
export async function finaliseRun(ports: ExecutorPorts, grant: Grant, task: FinaliseTask, signal: AbortSignal): Promise<void> {
  const { run_id, env_id, model } = grant.config;
  const mark = `${run_id}-${task.generation}`;
  if (!(await writeResults(ports, grant, outputKey(env_id, model, run_id, "results.jsonl"), mark, signal))) return;
  const encoder = new TextEncoder();
  const log: string[] = [];
  for await (const lines of evalLog((after, limit) => ports.run(run_id).events(after, limit))) log.push(lines);
  await ports.store.put(outputKey(env_id, model, run_id, "eval.log"), encoder.encode(log.join("")), "text/plain; charset=utf-8");
  const metadata = await ports.run(run_id).metadata();
  // Deleted meanwhile.
  if (metadata === null) return;
  await ports.store.put(outputKey(env_id, model, run_id, "metadata.json"), encoder.encode(metadataText(metadata)), "application/json");
  const { edgewise, pass_at_k } = metadata as RunMetadata;
  await ports.run(run_id).finalised({ ...ticketOf(grant), scores: { reward_ci95: edgewise.reward_ci95, pass_at_k } });
}
