/** A request's body whose length is known before it is read. */
export interface SizedBody {
  readonly stream: ReadableStream<Uint8Array>;
  readonly headers: Readonly<Record<string, string>>;
  /** Lets go of where it comes from, if nobody is to read it any more. */
  readonly stop: () => void;
}

interface Pipe {
  readonly readable: ReadableStream<Uint8Array>;
  readonly writable: WritableStream<Uint8Array>;
}

/** In workerd a stream's length is sent only if it is one of these; elsewhere a header says it. */
const { FixedLengthStream: Fixed } = globalThis as unknown as { FixedLengthStream?: new (bytes: number) => Pipe };

export interface BodyParts {
  readonly before: string;
  /** What comes from storage, of `bytes`. */
  readonly open: () => Promise<ReadableStream<Uint8Array>>;
  readonly bytes: number;
  readonly after: string;
  readonly contentType: string;
}

/** A body that is never in memory as a whole: what stands before and after a stream is text. */
export async function sizedBody({ before, open, bytes, after, contentType }: BodyParts): Promise<SizedBody> {
  const [first, last] = [before, after].map((text) => new TextEncoder().encode(text)) as [Uint8Array, Uint8Array];
  const length = first.byteLength + bytes + last.byteLength;
  const source = await open();
  const { readable, writable }: Pipe = Fixed === undefined ? new TransformStream<Uint8Array, Uint8Array>() : new Fixed(length);
  const controller = new AbortController();
  const write = async (): Promise<void> => {
    const beginning = writable.getWriter();
    await beginning.write(first);
    beginning.releaseLock();
    await source.pipeTo(writable, { preventClose: true, signal: controller.signal });
    const end = writable.getWriter();
    await end.write(last);
    await end.close();
  };
  // Whoever reads it learns of what goes wrong, and whoever does not, of nothing.
  write().catch((thrown: unknown) => Promise.allSettled([writable.abort(thrown), source.cancel(thrown)]));
  return {
    stream: readable,
    headers: { "content-type": contentType, ...(Fixed === undefined ? { "content-length": String(length) } : {}) },
    stop: () => controller.abort(new Error("the request is over")),
  };
}
