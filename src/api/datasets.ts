import { type Context, Hono } from "hono";
import { datasetKey, isDigest } from "../../r2-layout/keys.ts";
import { EdgewiseError } from "../errors/result.ts";
import { MAX_BODY_BYTES } from "../limits.ts";
import type { AppContext } from "./app-context.ts";
import { invalid, logUnexpected, unwrap } from "./errors.ts";

/** `/datasets/{sha256}`: uploads under their own digest; the same bytes are stored once, other bytes never. */
export const datasets = new Hono<AppContext>();

datasets.put("/:digest", async (c) => {
  const key = keyOf(c);
  const { store } = c.var.ports;
  const length = c.req.header("content-length") ?? "";
  if (!/^\d{1,15}$/.test(length)) throw invalid(["header", "Content-Length"], "is needed for an upload");
  const bytes = Number(length);
  if (bytes > MAX_BODY_BYTES) throw new EdgewiseError("body_too_large", `An upload has at most ${MAX_BODY_BYTES / 1e6} MB.`);
  const body = c.req.raw.body ?? emptyStream();
  if ((await sizeForUse(c, key)) !== null) {
    // Read to its end, or the connection breaks while the client is still sending.
    await body.pipeTo(new WritableStream());
    return c.json({ dataset: `sha256:${c.req.param("digest")}` });
  }
  const outcome = unwrap(await store.create(key, { body, bytes, sha256: c.req.param("digest") }));
  return c.json({ dataset: `sha256:${c.req.param("digest")}` }, outcome === "created" ? 201 : 200);
});

// Hono sends HEAD here too and drops the body.
datasets.get("/:digest", async (c) => {
  const size = await sizeForUse(c, keyOf(c));
  if (size === null) throw new EdgewiseError("not_found", "No such upload.");
  return c.json({ dataset: `sha256:${c.req.param("digest")}`, bytes: size });
});

/** Bytes of an upload that somebody is about to name, which is not swept from here on; null when there is none. */
async function sizeForUse(c: Context<AppContext>, key: string): Promise<number | null> {
  const { registry, store } = c.var.ports;
  const size = await store.size(key);
  if (size === null) return null;
  try {
    await registry.keepUploads([c.req.param("digest") ?? ""]);
  } catch (thrown) {
    // A Registry that an older version still runs knows of no sweep.
    logUnexpected("use of an upload", thrown);
  }
  return store.size(key);
}

function keyOf(c: Context<AppContext>): string {
  const digest = c.req.param("digest") ?? "";
  if (!isDigest(digest)) throw invalid(["path", "sha256"], "must be a sha256 digest in lower-case hex");
  return datasetKey(digest);
}

const emptyStream = (): ReadableStream<Uint8Array> => new ReadableStream({ start: (controller) => controller.close() });
