import { sha256Hex } from "../../../src/config/sha256.ts";

/** What is pushed. */
export interface PushWish {
  readonly module?: string;
  readonly sourceMap?: string;
  readonly readme?: string | Uint8Array<ArrayBuffer>;
  readonly visibility?: string;
  /** In the place of the module's own digest. */
  readonly sha256?: string;
}

/** The code of an environment, as the command bundles one. */
export const moduleOf = (says: object = {}): string => {
  const facts = { id: "my-sums", version: "0.1.0", description: "Adds numbers.", defaults: { num_examples: 3 }, ...says };
  return `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "./lib/index.js";
const facts = ${JSON.stringify(facts)};
const right = ({ completion, answer }) => (completion.at(-1).content === answer ? 1 : 0);
const dataset = ["1", "2", "3"].map((n) => ({ question: n + " + 1?", answer: String(Number(n) + 1) }));
export default defineEnvironment({ ...facts, args: z.object({}), load: () => new SingleTurnEnv({ dataset, rubric: new Rubric([right]) }) });
`;
};
export const MODULE = moduleOf();

/** The body of a push, as the command sends it, and its media type. */
export async function pushForm({ module = MODULE, sourceMap, readme, visibility, sha256 }: PushWish = {}): Promise<{ body: Uint8Array; type: string }> {
  const form = new FormData();
  form.set("manifest", JSON.stringify({ sha256: sha256 ?? (await sha256Hex(module)), ...(visibility === undefined ? {} : { visibility }) }));
  form.set("module", new Blob([module], { type: "text/javascript" }), "module.js");
  if (sourceMap !== undefined) form.set("source_map", new Blob([sourceMap], { type: "application/json" }), "module.js.map");
  if (readme !== undefined) form.set("readme", new Blob([readme], { type: "text/markdown" }), "README.md");
  const sent = new Response(form);
  return { body: new Uint8Array(await sent.arrayBuffer()), type: sent.headers.get("content-type") ?? "" };
}
