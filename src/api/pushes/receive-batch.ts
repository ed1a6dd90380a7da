import type { BatchRequest } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import { batchKey, batchName } from "../../../r2-layout/keys.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { MAX_BODY_BYTES } from "../../limits.ts";
import { ContentDigest } from "../../pushed/content-digest.ts";
import { readSample, sampleIdOf } from "../../pushed/sample.ts";
import { sampleMark } from "../../pushed/sample-mark.ts";
import { SampleScanner } from "../../pushed/sample-scanner.ts";
import type { ObjectStore } from "../app-ports.ts";
import { invalid } from "../errors.ts";
import { BatchIds } from "./batch-ids.ts";
import { refusalOf } from "./taking-in.ts";

/** A body that is looked at as it passes: a sample of it in memory at a time. */
class Passing {
  readonly #scanner = new SampleScanner();
  readonly #digest = new ContentDigest();
  readonly #ids = new BatchIds("samples");
  #bytes = 0;
  /** The first thing that is wrong. The rest is read all the same, or the sender would see its connection break instead of the answer. */
  problem: unknown = null;

  readonly transform = new TransformStream<Uint8Array, Uint8Array>({
    transform: async (chunk, controller) => {
      this.#bytes += chunk.byteLength;
      if (this.problem === null) await this.#look(chunk).catch((thrown: unknown) => (this.problem = thrown));
      controller.enqueue(chunk);
    },
  });

  async #look(chunk: Uint8Array): Promise<void> {
    for (const sample of this.#scanner.push(chunk)) {
      const id = sampleIdOf(readSample(sample).value);
      await this.#digest.add(sample.bytes);
      if (id !== null) this.#ids.add(sample.position, id, await sampleMark(sample.bytes));
    }
  }

  async result(): Promise<Omit<BatchRequest, "object">> {
    if (this.problem === null) this.#scanner.end();
    if (this.problem !== null) throw this.problem;
    return { digest: await this.#digest.result(), bytes: this.#bytes, samples: this.#scanner.samples, ids: this.#ids.all };
  }
}

/**
 * Stores the body of a request as a batch of samples. What it is refused for names the field; nothing is stored then. `store`: null where there is no room
 * for it, and it is only looked at.
 */
export async function receiveBatch(store: ObjectStore | null, runId: string, request: Request): Promise<BatchRequest> {
  const bytes = lengthOf(request);
  const object = batchName("samples");
  const key = batchKey(runId, object);
  const passing = new Passing();
  const body = (request.body ?? new Response("").body ?? new ReadableStream()).pipeThrough(passing.transform);
  try {
    await (store === null ? body.pipeTo(new WritableStream()) : store.putStream(key, body, bytes));
    return { ...(await passing.result()), object: store === null ? null : object };
  } catch (thrown) {
    await store?.remove(key);
    // Streams break with TypeErrors.
    throw thrown instanceof TypeError ? invalid(["body"], "ended early, or is longer than its Content-Length") : refusalOf(thrown);
  }
}

function lengthOf(request: Request): number {
  const type = (request.headers.get("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") throw new EdgewiseError("not_json", "The body must be JSON.", { hint: "Send `Content-Type: application/json`." });
  const length = request.headers.get("content-length") ?? "";
  if (!/^\d{1,15}$/.test(length)) throw invalid(["header", "Content-Length"], "is needed for samples");
  if (Number(length) > MAX_BODY_BYTES)
    throw new EdgewiseError("body_too_large", `A batch of samples has at most ${MAX_BODY_BYTES / 1e6} MB.`, { hint: "Send them in several." });
  return Number(length);
}
