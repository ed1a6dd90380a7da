import { requestsKey } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { Lines } from "../../environment-http/lines.ts";
import { BATCH_JOB_BYTES } from "../../limits.ts";
import type { ExecutorStore } from "../ports.ts";
import { type RequestId, requestOf } from "./custom-id.ts";

/** The requests of a job by what they are known by at the provider, read from its object. Throws `storage_damaged` when that is not there any more, or none of ours. */
export async function askedIn(
  store: Pick<ExecutorStore, "stream">,
  runId: string,
  object: string,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, RequestId>> {
  const key = requestsKey(runId, object);
  const asked = new Map<string, RequestId>();
  for await (const line of requestLines(store, runId, object)) {
    signal.throwIfAborted();
    const id = idOf(line);
    const request = id === null ? null : requestOf(id);
    if (id === null || request === null) throw new EdgewiseError("storage_damaged", `${key} has a line that is no request of ours`);
    asked.set(id, request);
  }
  return asked;
}

function idOf(line: string): string | null {
  try {
    const { custom_id } = JSON.parse(line) as { readonly custom_id?: unknown };
    return typeof custom_id === "string" ? custom_id : null;
  } catch {
    return null;
  }
}

/** The requests of a job as they were written. Throws `storage_damaged` when they are not there any more. */
export async function* requestLines(store: Pick<ExecutorStore, "stream">, runId: string, object: string): AsyncGenerator<string> {
  const key = requestsKey(runId, object);
  const stream = await store.stream(key);
  if (stream === null) throw new EdgewiseError("storage_damaged", `${key} is missing in storage`);
  const decoder = new TextDecoder();
  const lines = new Lines(BATCH_JOB_BYTES);
  // Each ends with its line's end, the last one too.
  for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) yield* lines.add(decoder.decode(chunk, { stream: true }));
}
