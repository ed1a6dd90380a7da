import { EdgewiseError } from "../errors/result.ts";

/** One sample of a batch, and where its bytes are in the body. */
export interface ScannedSample {
  /** From 0. */
  readonly position: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** Finds the samples in a body as it comes. Throws a `BatchError` for a body that is none. */
export interface BatchScanner {
  /** Samples that ended so far. */
  readonly samples: number;
  /** The samples that end in the next bytes of the body; the bytes of each are its own. */
  push(chunk: Uint8Array): Iterable<ScannedSample>;
  /** The body has ended: the samples that nothing else ended. */
  end(): Iterable<ScannedSample>;
}

/** What is wrong with a batch; `field` is where, such as `samples.3`. */
export class BatchError extends EdgewiseError {
  readonly field: string;
  constructor(field: string, message: string, code: "invalid_request" | "body_too_large" = "invalid_request") {
    super(code, `${field}: ${message}`);
    this.field = field;
  }
}
