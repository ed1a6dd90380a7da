import { EdgewiseError } from "../errors/result.ts";
import { KIB, MAX_UNPACKED_BYTES, MIB } from "../limits.ts";

/** Bytes that are unpacked at a time: a thousand times as many may come of them before anybody counts. */
const PACKED_STEP = 4 * KIB;

/** What a gzipped stream holds; fails with `dataset_unreadable` beyond `most` bytes, and where it is no whole gzip. `name`: for errors. */
export function unpack(stream: ReadableStream<Uint8Array>, name: string, most = MAX_UNPACKED_BYTES): ReadableStream<Uint8Array> {
  const packed = new PackedSteps(stream);
  const reader = packed.stream.pipeThrough(new DecompressionStream("gzip") as ReadableWritablePair<Uint8Array, Uint8Array>).getReader();
  let bytes = 0;
  return new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { done, value } = await reader.read().catch((thrown: unknown) => {
        // What the place that it comes from says is no fault of the file.
        throw packed.failure ?? new EdgewiseError("dataset_unreadable", `${name} is no whole gzip file.`, { cause: thrown });
      });
      if (done) return controller.close();
      bytes += value.byteLength;
      if (bytes > most) {
        await packed.stop();
        throw new EdgewiseError("dataset_unreadable", `${name} becomes more than ${most / MIB} MiB when it is unpacked.`, {
          hint: "Unpack it and take the part that the evaluation needs.",
        });
      }
      controller.enqueue(value);
    },
    cancel: () => packed.stop(),
  });
}

/**
 * A stream in small pieces, each when it is asked for. Stopped here, before what unpacks it: Node's fails with an exception of nobody's when it is
 * cancelled while it works.
 */
class PackedSteps {
  readonly stream: ReadableStream<Uint8Array>;
  /** What ended it before its end. */
  failure: unknown;
  readonly #source: ReadableStreamDefaultReader<Uint8Array>;
  #held = new Uint8Array();
  #stopped = false;

  constructor(source: ReadableStream<Uint8Array>) {
    const reader = source.getReader();
    this.#source = reader;
    const next = async (): Promise<Uint8Array | null> => {
      while (this.#held.byteLength === 0) {
        const { done, value } = await reader.read();
        if (done) return null;
        this.#held = new Uint8Array(value);
      }
      const piece = this.#held.subarray(0, PACKED_STEP);
      this.#held = this.#held.subarray(PACKED_STEP);
      return piece;
    };
    this.stream = new ReadableStream<Uint8Array>(
      {
        pull: async (controller) => {
          const piece = await next().catch((thrown: unknown) => {
            this.failure = thrown;
            throw thrown;
          });
          if (this.#stopped) return await new Promise<never>(() => undefined);
          if (piece === null) controller.close();
          else controller.enqueue(piece);
        },
        cancel: (reason) => reader.cancel(reason),
      },
      { highWaterMark: 0 },
    );
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#held = new Uint8Array();
    await this.#source.cancel().catch(() => undefined);
  }
}
