import type { Context } from "hono";
import type { AppContext } from "../app-context.ts";
import { byteRange } from "./byte-range.ts";

/** What a model wrote is never run or shown as a page, whatever it looks like. */
export const HARMLESS = {
  "content-security-policy": "default-src 'none'; sandbox",
  "cross-origin-resource-policy": "same-origin",
};
export const attached = (file: string) => ({ ...HARMLESS, "content-disposition": `attachment; filename="${file}"` });

export interface SentObject {
  readonly key: string;
  readonly size: number;
  readonly name: string;
  readonly type: string;
  /** Headers beside those that every file has. */
  readonly more?: Readonly<Record<string, string>>;
}

/** An object of R2 of `size` bytes as a file of this name, or the part of it that is asked for. */
export async function sendObject(c: Context<AppContext>, { key, size, name, type, more = {} }: SentObject): Promise<Response> {
  const { store } = c.var.ports;
  const range = byteRange(c.req.header("range"), size);
  const headers = { ...attached(name), ...more, "content-type": type, "accept-ranges": "bytes" };
  if (range === "unsatisfiable") {
    // RFC 9110 has a status of its own for this, so the catalogue's does not apply.
    return c.json({ detail: "The range lies behind the end of the file.", code: "invalid_request" }, 416, {
      ...headers,
      "content-range": `bytes */${size}`,
    });
  }
  const { offset, length } = range ?? { offset: 0, length: size };
  const sent = {
    ...headers,
    "content-length": String(length),
    ...(range === null ? {} : { "content-range": `bytes ${offset}-${offset + length - 1}/${size}` }),
  };
  const status = range === null ? 200 : 206;
  const body = length === 0 || c.req.method === "HEAD" ? null : await store.read(key, { offset, length });
  return body === null ? c.body(null, status, sent) : c.body(body, status, sent);
}
