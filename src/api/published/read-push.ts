import type { z } from "zod";
import { EdgewiseError } from "../../errors/result.ts";
import { KIB, MAX_BODY_BYTES, MAX_FACTS_BYTES, MAX_MODULE_BYTES, MAX_README_BYTES, MAX_SOURCE_MAP_BYTES, MIB } from "../../limits.ts";
import { parseBody } from "../body.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { invalid } from "../errors.ts";
import { pushManifest } from "./published-schemas.ts";

/** What a push brings: one module, and where it has them its source map and a text for those who look at it. */
export interface Push extends z.infer<typeof pushManifest> {
  readonly module: Uint8Array;
  readonly sourceMap: Uint8Array | null;
  /** Markdown, in UTF-8. */
  readonly readme: Uint8Array | null;
}

/** Boundaries and headers of four parts. */
const MAX_FRAME_BYTES = 16 * KIB;
const MAX_PUSH_BYTES = MAX_MODULE_BYTES + MAX_SOURCE_MAP_BYTES + MAX_README_BYTES + MAX_FACTS_BYTES + MAX_FRAME_BYTES;
const PARTS = { manifest: MAX_FACTS_BYTES, module: MAX_MODULE_BYTES, source_map: MAX_SOURCE_MAP_BYTES, readme: MAX_README_BYTES } as const;
type Part = keyof typeof PARTS;

/** Reads `multipart/form-data` with the parts `manifest` (JSON), `module` and, if there are such, `source_map` and `readme`. Throws for whatever is wrong with it, the digest included. */
export async function readPush(request: Request): Promise<Push> {
  const type = request.headers.get("content-type") ?? "";
  const body = await bounded(request.body);
  if (!/^multipart\/form-data\b/i.test(type))
    throw new EdgewiseError("not_json", "The body must be multipart/form-data with the parts manifest, module, source_map and readme.", {
      hint: "`npx edgewise env push` sends it.",
    });
  const form = await new Response(body, { headers: { "content-type": type } }).formData().catch((): never => {
    throw invalid(["body"], "is no multipart/form-data, or is cut off");
  });
  const manifest = parseBody(pushManifest, new TextDecoder().decode((await partOf(form, "manifest")) ?? undefined));
  const module = await partOf(form, "module");
  if (module === null || module.byteLength === 0) throw invalid(["body", "module"], "is missing: the code of the environment, as one module");
  const sha256 = await sha256Hex(module);
  if (sha256 !== manifest.sha256)
    throw new EdgewiseError("digest_mismatch", `The module does not have the sha256 that its manifest says: it is ${sha256}.`, { hint: "Push it again." });
  const readme = await partOf(form, "readme");
  return { ...manifest, module, sourceMap: await partOf(form, "source_map"), readme: readme === null || readme.byteLength === 0 ? null : asText(readme) };
}

/** Throws for what is no UTF-8. */
function asText(bytes: Uint8Array): Uint8Array {
  try {
    new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid(["body", "readme"], "is no text in UTF-8");
  }
  return bytes;
}

async function partOf(form: FormData, name: Part): Promise<Uint8Array | null> {
  const [part, another] = form.getAll(name) as readonly (string | Blob)[];
  if (another !== undefined) throw invalid(["body", name], "is there twice");
  if (part === undefined) return null;
  const bytes = typeof part === "string" ? new TextEncoder().encode(part) : new Uint8Array(await part.arrayBuffer());
  if (bytes.byteLength > PARTS[name]) throw tooLarge(`The part ${name}`, PARTS[name]);
  return bytes;
}

/** All of a body, read to its end also where it is too large: who sends it would see the connection break instead of the answer. */
async function bounded(body: ReadableStream<Uint8Array> | null): Promise<Blob> {
  const pieces: Uint8Array<ArrayBuffer>[] = [];
  let bytes = 0;
  for await (const piece of (body ?? []) as AsyncIterable<Uint8Array<ArrayBuffer>>) {
    bytes += piece.byteLength;
    if (bytes <= MAX_PUSH_BYTES) pieces.push(piece);
    else if (bytes > MAX_BODY_BYTES) break;
    else pieces.length = 0;
  }
  if (bytes > MAX_PUSH_BYTES) throw tooLarge("The body", MAX_PUSH_BYTES);
  return new Blob(pieces);
}

const tooLarge = (what: string, most: number): EdgewiseError =>
  new EdgewiseError("body_too_large", `${what} is larger than ${most < MIB ? `${most / KIB} KiB` : `${Math.round((10 * most) / MIB) / 10} MiB`}.`, {
    hint: "An environment's module holds code; rows come by reference (docs/own-environments.md), and packages that are not needed are left out.",
  });
