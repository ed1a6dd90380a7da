import type { BatchRequest } from "../../../durable-objects/run/pushed/pushed-protocol.ts";
import { batchKey, batchName } from "../../../r2-layout/keys.ts";
import { EdgewiseError, type Failure } from "../../errors/result.ts";
import { traceMark } from "../../pushed/sample-mark.ts";
import { BatchError, type ScannedSample } from "../../pushed/scanned-sample.ts";
import { LineScanner } from "../../traces/line-scanner.ts";
import { type LineFormat, readTraceLine } from "../../traces/trace-line.ts";
import type { ObjectStore } from "../app-ports.ts";
import { refused } from "../errors.ts";
import { BatchIds } from "./batch-ids.ts";

/** Lines of traces that are looked at as they pass, one of them in memory at a time. What came until the first was read is held, since it says whose they are. */
export class PassingTraces {
  readonly #pieces: AsyncGenerator<Uint8Array>;
  readonly #format: LineFormat;
  readonly #scanner = new LineScanner();
  readonly #ids = new BatchIds("traces");
  #held: Uint8Array[] = [];
  #run: string | null = null;

  constructor(pieces: AsyncGenerator<Uint8Array>, format: LineFormat) {
    this.#pieces = pieces;
    this.#format = format;
  }

  /** The evaluation that the first line names. Throws a `BatchError` where there is no line, or it is none. */
  async run(): Promise<string> {
    while (this.#run === null) {
      const { done, value } = await this.#pieces.next();
      if (done === true) break;
      this.#held.push(value);
      await this.#look(this.#scanner.push(value));
    }
    // A single line needs no newline.
    if (this.#run === null) await this.#look(this.#scanner.end());
    if (this.#run === null) throw new BatchError("traces", "must have a line");
    return this.#run;
  }

  /** All of the bytes, of which the lines are looked at. Throws a `BatchError` for what is wrong. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    yield* this.#held;
    this.#held = [];
    for await (const piece of this.#pieces) {
      await this.#look(this.#scanner.push(piece));
      yield piece;
    }
    await this.#look(this.#scanner.end());
  }

  get found(): Pick<BatchRequest, "samples" | "ids"> {
    return { samples: this.#scanner.samples, ids: this.#ids.all };
  }

  async #look(lines: Iterable<ScannedSample>): Promise<void> {
    for (const line of lines) {
      const { id, run } = readTraceLine(line, this.#format);
      this.#run ??= run;
      if (run !== this.#run)
        throw new BatchError(`traces.${line.position}.run.id`, `must be ${JSON.stringify(this.#run)}, as in the first line: an upload is of one evaluation`);
      this.#ids.add(line.position, id, await traceMark(line.bytes));
    }
  }
}

/** What an upload says of itself before its body. */
export interface Announced {
  /** sha256 of the lines, unpacked; hex. */
  readonly digest: string;
  readonly format: LineFormat;
}

/**
 * Stores lines as a batch of this evaluation. Nothing is stored where anything is wrong with them, where they have another digest than was announced, or are
 * more than there is room for. `keeps` false: there is no room, and they are only looked at.
 */
export async function receiveTraces(
  store: ObjectStore,
  runId: string,
  passing: PassingTraces,
  { digest, keeps, room }: { readonly digest: string; readonly keeps: boolean; readonly room: (bytes: number) => Failure | null },
): Promise<BatchRequest> {
  const object = batchName("traces");
  const key = batchKey(runId, object);
  const { bytes, sha256 } = await (keeps ? store.putPieces(key, within(passing.pieces(), room)) : store.digestOf(passing.pieces()));
  if (sha256 !== digest) {
    if (keeps) await store.remove(key);
    throw new EdgewiseError("digest_mismatch", `The lines do not have the sha256 that Idempotency-Key says: it is ${sha256}.`, {
      hint: "The key is that of the lines as they are before they are compressed.",
    });
  }
  return { digest: `sha256:${digest}`, object: keeps ? object : null, bytes, ...passing.found };
}

/** A gzip says nothing of what it becomes. */
async function* within(pieces: AsyncIterable<Uint8Array>, room: (bytes: number) => Failure | null): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    const refusal = room(bytes);
    if (refusal !== null) throw refused(refusal);
    yield piece;
  }
}
