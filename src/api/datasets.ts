import { type Context, Hono } from "hono";
import { datasetKey, isDigest } from "../../r2-layout/keys.ts";
import { EdgewiseError, ok, type Result } from "../errors/result.ts";
import { MAX_BODY_BYTES } from "../limits.ts";
import { teamField } from "../teams/team-name.ts";
import type { AppContext } from "./app-context.ts";
import { invalid, logUnexpected, refused, unwrap } from "./errors.ts";
import { unlessOlder } from "./older-object.ts";

/** `/datasets/{sha256}`: uploads under their own digest; the same bytes are stored once, other bytes never. */
export const datasets = new Hono<AppContext>();

datasets.put("/:digest", async (c) => {
  const key = keyOf(c);
  const { now, registry, store, team } = c.var.ports;
  const digest = c.req.param("digest");
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
  const admitted = await unlessOlder(registry.admitUpload({ digest, bytes, now: now(), ...teamField(team) }), ok(null));
  if (!admitted.ok) {
    await body.pipeTo(new WritableStream());
    throw refused(admitted.error);
  }
  const outcome = await storedOrDropped(c, key, store.create(key, { body, bytes, sha256: digest }));
  return c.json({ dataset: `sha256:${digest}` }, outcome === "created" ? 201 : 200);
});

/** An upload that came to nothing counts no more; where this service ends before it can say so, the next sweep finds it out. */
async function storedOrDropped<T>(c: Context<AppContext>, key: string, stored: Promise<Result<T>>): Promise<T> {
  try {
    return unwrap(await stored);
  } catch (thrown) {
    const { registry, store } = c.var.ports;
    const drop = async () => ((await store.size(key)) === null ? registry.dropUpload(c.req.param("digest") ?? "") : undefined);
    await drop().catch((error: unknown) => logUnexpected("an upload that failed", error));
    throw thrown;
  }
}

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
