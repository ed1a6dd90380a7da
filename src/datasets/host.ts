import type { Sleep } from "../clients/client.ts";

/** Bytes that can be read in order or in parts. */
export interface ByteSource {
  /** What a person calls it, for errors. */
  readonly name: string;
  /** From the first byte; each call begins anew. */
  open(): Promise<ReadableStream<Uint8Array>>;
  /** Bytes in all. */
  size(): Promise<number>;
  /** Bytes `[start, end)`. */
  read(start: number, end: number): Promise<ArrayBuffer>;
}

/** The Hugging Face Hub: where files are, where rows are, and the token for what is not public. */
export interface HubAccess {
  /** For example `https://huggingface.co`. */
  readonly endpoint: string;
  /** The data set viewer, for example `https://datasets-server.huggingface.co`. */
  readonly viewer: string;
  /** Sent to these two hosts only. */
  readonly token: string | null;
}

/** What reading data sets needs of its host; environments never see it. */
export interface DatasetHost {
  /** Follows no redirect by itself. */
  readonly fetch: (url: string, init: RequestInit) => Promise<Response>;
  readonly sleep: Sleep;
  /** The upload with this digest; null when there is none. */
  readonly upload: (digest: string) => Promise<ByteSource | null>;
  readonly hub: HubAccess;
  /** Whether addresses of this machine and its network may be read. */
  readonly allowPrivate: boolean;
  /** Tells whoever follows the run what was read (a revision). */
  readonly note: (message: string) => void;
}

export const HUB_ENDPOINT = "https://huggingface.co";
export const HUB_VIEWER = "https://datasets-server.huggingface.co";
