import { sha256Hex } from "../../../src/config/sha256.ts";

/** What a push says of its environment, and its code. */
export interface PushWish {
  readonly module?: string;
  readonly sourceMap?: string;
  readonly visibility?: string;
  /** In the place of the module's own digest. */
  readonly sha256?: string;
  readonly facts?: object;
}

export const FACTS = { id: "my-sums", version: "0.1.0", description: "Adds numbers.", defaults: { num_examples: 3 }, keys: [], args: [] };
export const MODULE = 'import { defineEnvironment } from "./lib/index.js";\nexport default defineEnvironment({});\n';

/** The body of a push, as the command sends it, and its media type. */
export async function pushForm({ module = MODULE, sourceMap, visibility, sha256, facts = {} }: PushWish = {}): Promise<{ body: Uint8Array; type: string }> {
  const form = new FormData();
  const manifest = { sha256: sha256 ?? (await sha256Hex(module)), ...(visibility === undefined ? {} : { visibility }), facts: { ...FACTS, ...facts } };
  form.set("manifest", JSON.stringify(manifest));
  form.set("module", new Blob([module], { type: "text/javascript" }), "module.js");
  if (sourceMap !== undefined) form.set("source_map", new Blob([sourceMap], { type: "application/json" }), "module.js.map");
  const sent = new Response(form);
  return { body: new Uint8Array(await sent.arrayBuffer()), type: sent.headers.get("content-type") ?? "" };
}
