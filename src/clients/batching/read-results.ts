import { parseShallow } from "../../config/json-depth.ts";
import { MAX_BATCH_LINE_BYTES, MAX_JSON_DEPTH } from "../../limits.ts";
import { type Fields, record } from "../openai/reply-fields.ts";
import { failureOfNetwork, RequestFailed } from "../transport/request-failure.ts";
import type { BatchCall, BatchCalls } from "./batch-calls.ts";
import type { BatchLine } from "./batch-route.ts";
import { resultLines } from "./result-lines.ts";

/** Levels of what stands around an answer in a line. */
const AROUND = 2;

/** Before all else in a line but its own `id`, so that it is no part of an answer. */
const CUSTOM_ID = /^\s*\{\s*(?:"id"\s*:\s*(?:"[^"\\]*"|null)\s*,\s*)?"custom_id"\s*:\s*"([^"\\]*)"/;

/** One file of results. What is no line of results is passed over with a warning: its request has no answer. Throws `RequestFailed` where the connection breaks off. */
export async function* readResults(
  calls: BatchCalls,
  call: BatchCall,
  signal: AbortSignal,
  read: (custom_id: string, fields: Fields) => BatchLine | null,
): AsyncGenerator<BatchLine> {
  const body = await calls.body(call, signal);
  const lines = resultLines(body, MAX_BATCH_LINE_BYTES, signal);
  try {
    for (;;) {
      const next = await lines.next().catch((thrown: unknown) => {
        if (signal.aborted) throw signal.reason;
        throw new RequestFailed(failureOfNetwork(thrown, true, calls.scrub));
      });
      if (next.done) return;
      const line = "text" in next.value ? whole(next.value.text, read) : large(next.value.beginning, next.value.bytes);
      if (line !== null) yield line;
      else calls.warn("batch_line", "a line of the batch's results cannot be read: its request counts as one without an answer");
    }
  } finally {
    await lines.return(undefined);
  }
}

function whole(text: string, read: (custom_id: string, fields: Fields) => BatchLine | null): BatchLine | null {
  let fields: Fields | null;
  try {
    fields = record(parseShallow(text, MAX_JSON_DEPTH + AROUND));
  } catch {
    return null;
  }
  return fields === null || typeof fields.custom_id !== "string" ? null : read(fields.custom_id, fields);
}

function large(beginning: string, bytes: number): BatchLine | null {
  const custom_id = CUSTOM_ID.exec(beginning)?.[1];
  return custom_id === undefined ? null : { kind: "large", custom_id, bytes };
}
