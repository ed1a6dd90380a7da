import { make, type MultipartError, type PartInfo } from "multipasta";
import { unpack } from "../datasets/unpack.ts";
import { EdgewiseError } from "../errors/result.ts";
import { KIB, MAX_BODY_BYTES, MAX_TRACES_BYTES, MIB } from "../limits.ts";
import { BatchError } from "../pushed/scanned-sample.ts";
import { streamOf } from "../stream-of.ts";
import { checkMetadata } from "./upload-metadata.ts";

/** Bytes of the part `metadata`, and parts of a body. */
const MAX_METADATA_BYTES = 64 * KIB;
const MAX_PARTS = 8;

const BROKEN: Readonly<Record<MultipartError["_tag"], string>> = {
  InvalidBoundary: "has no boundary in its Content-Type",
  BadHeaders: "has a part whose headers are none",
  InvalidDisposition: "has a part without a name",
  ReachedLimit: `has more than ${MAX_PARTS} parts, or metadata of more than ${MAX_METADATA_BYTES / KIB} KiB`,
  EndNotReached: "is cut off",
};

/**
 * The body of `POST /traces`: `multipart/form-data` with a part `metadata` and a part `traces`, lines of JSON that may be gzipped for themselves. Read as it
 * comes, a piece in memory at a time.
 */
export class TracesUpload {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #type: string;
  #taken = 0;
  #ended = false;

  constructor(body: ReadableStream<Uint8Array>, contentType: string) {
    this.#reader = body.getReader();
    this.#type = contentType;
  }

  /** The bytes of the part `traces`, unpacked, as they come. Throws a `BatchError` for a body that is none, in the end also where its metadata are wrong. */
  async *bytes(): AsyncGenerator<Uint8Array> {
    const parts = new Parts(this.#type);
    const packed = this.#packed(parts);
    const first = await packed.next();
    const pieces = startingWith(first, packed);
    yield* bounded(parts.isGzip === true ? unpacked(pieces) : pieces);
    parts.check();
  }

  /** Reads on to the end of the body, or who sends it sees the connection break instead of the answer. */
  async drain(): Promise<void> {
    try {
      while (!this.#ended && this.#taken <= MAX_BODY_BYTES) await this.#next();
      if (!this.#ended) await this.#reader.cancel();
    } catch {
      // Whoever sent it has gone, and asks for no answer.
    }
  }

  async *#packed(parts: Parts): AsyncGenerator<Uint8Array> {
    for (let piece = await this.#next(); piece !== null; piece = await this.#next()) yield* parts.push(piece);
    parts.end();
  }

  async #next(): Promise<Uint8Array | null> {
    const { done, value } = await this.#reader.read().catch((): never => {
      throw new BatchError("body", "ended early, or is longer than its Content-Length");
    });
    if (done) this.#ended = true;
    else this.#taken += value.byteLength;
    if (this.#taken > MAX_BODY_BYTES) throw new BatchError("body", `has more than ${MAX_BODY_BYTES / 1e6} MB`, "body_too_large");
    return done ? null : value;
  }
}

/** The parts of a body, as far as it came. */
class Parts {
  isGzip: boolean | null = null;
  #metadata: string | null = null;
  #problem: string | null = null;
  #pieces: Uint8Array[] = [];
  /** Both parts have ended: what stands behind them is not looked at, and the parser trips over a last boundary that comes in two pieces. */
  #isDone = false;
  readonly #parser;

  constructor(contentType: string) {
    this.#parser = make({
      headers: { "content-type": contentType },
      isFile: ({ name }) => name === "traces",
      maxParts: MAX_PARTS,
      maxFieldSize: MAX_METADATA_BYTES,
      onFile: (info) => this.#begin(info),
      onField: ({ name }, value) => {
        if (name !== "metadata") return;
        if (this.#metadata !== null) this.#problem ??= "has its part metadata twice";
        this.#metadata = new TextDecoder().decode(value);
      },
      onError: ({ _tag }) => {
        if (!this.#isDone) this.#problem ??= BROKEN[_tag];
      },
      onDone: () => undefined,
    });
  }

  #begin({ headers }: PartInfo): (piece: Uint8Array | null) => void {
    const encoding = String(headers["content-encoding"] ?? "identity").toLowerCase();
    if (this.isGzip !== null) this.#problem ??= "has its part traces twice";
    if (encoding !== "gzip" && encoding !== "identity") this.#problem ??= "has traces of another Content-Encoding than gzip";
    this.isGzip = encoding === "gzip";
    return (piece) => {
      if (piece === null) this.#isDone = this.#metadata !== null;
      else if (piece.byteLength > 0) this.#pieces.push(piece);
    };
  }

  /** The bytes of the traces in the next bytes of the body. */
  push(piece: Uint8Array): Uint8Array[] {
    this.#parse(() => this.#parser.write(piece));
    const pieces = this.#pieces;
    this.#pieces = [];
    return pieces;
  }

  end(): void {
    this.#parse(() => this.#parser.end());
  }

  /** Both parts are there, and the metadata are such. */
  check(): void {
    if (this.isGzip === null) throw new BatchError("body", "must have a part traces");
    checkMetadata(this.#metadata);
  }

  #parse(step: () => void): void {
    if (this.#isDone) return;
    try {
      step();
    } catch (thrown) {
      // A file name that is no text.
      if (thrown instanceof URIError) this.#problem ??= BROKEN.BadHeaders;
      else throw thrown;
    }
    if (this.#problem !== null) throw new BatchError("body", this.#problem);
  }
}

async function* startingWith(first: IteratorResult<Uint8Array, unknown>, rest: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  if (first.done === true) return;
  yield first.value;
  // Not `yield*`: whoever stops early leaves the rest to be read on.
  for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
}

async function* bounded(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.byteLength;
    if (bytes > MAX_TRACES_BYTES) throw tooMany();
    yield piece;
  }
}

const tooMany = (): BatchError => new BatchError("traces", `has more than ${MAX_TRACES_BYTES / MIB} MiB, unpacked`, "body_too_large");

async function* unpacked(pieces: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of unpack(streamOf(pieces), "traces", Number.POSITIVE_INFINITY) as unknown as AsyncIterable<Uint8Array>) yield piece;
  } catch (thrown) {
    if (thrown instanceof EdgewiseError && thrown.code === "dataset_unreadable") throw new BatchError("traces", "is no whole gzip");
    throw thrown;
  }
}
