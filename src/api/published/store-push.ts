import type { PublishedEnvironment } from "../../../durable-objects/registry/published/published-control.ts";
import { type PublishedFile, publishedKey } from "../../../r2-layout/keys.ts";
import { sha256Hex } from "../../config/sha256.ts";
import { EdgewiseError, ok } from "../../errors/result.ts";
import { MAX_FACTS_BYTES } from "../../limits.ts";
import { MANIFEST_VERSION, type Manifest, readManifest } from "../../published/manifest.ts";
import type { PublishedPin } from "../../config/plan/published-pin.ts";
import { ownerOf, publishedId, shownPin } from "../../published/published-name.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid, unwrap } from "../errors.ts";
import { unlessOlder } from "../older-object.ts";
import type { Push } from "./read-push.ts";

/**
 * Stores a version in its team's part of the bucket, and then has the Registry know it: what is not known there is nobody's. Throws for what is refused. A push that
 * broke off is finished by the same push, and what it left removed as a deleted version's code is.
 */
export async function storePush(
  ports: AppPorts,
  { name, version }: { readonly name: string; readonly version: string },
  push: Push,
  user: string,
): Promise<PublishedEnvironment> {
  const pin: PublishedPin = { owner: ownerOf(ports.team), name, version, digest: push.sha256 };
  const created_at = ports.now();
  const bytes = push.module.byteLength + (push.sourceMap?.byteLength ?? 0);
  const wanted = { version, digest: push.sha256, bytes, description: "", created_at, created_by: user };
  const request = { name, visibility: push.visibility ?? null, version: wanted };
  unwrap(await ports.registry.mayPublish(request));
  const facts = await factsOf(ports, name, push);
  unwrap(await unlessOlder(ports.registry.beginPush(request), ok(null)));
  await put(ports, pin, "module.js", push.module);
  if (push.sourceMap !== null) await put(ports, pin, "module.js.map", push.sourceMap);
  const readme = push.readme === null ? null : await putReadme(ports, pin, push.readme);
  const manifest: Manifest = {
    ...{ format: MANIFEST_VERSION, owner: pin.owner, name, version },
    module: { sha256: push.sha256, bytes: push.module.byteLength },
    source_map: push.sourceMap === null ? null : { sha256: await sha256Hex(push.sourceMap), bytes: push.sourceMap.byteLength },
    readme: readme === null ? null : { sha256: await sha256Hex(readme), bytes: readme.byteLength },
    facts: { ...facts, id: publishedId(pin), version },
    ...{ made_with: ports.facts.version, created_at, created_by: user },
  };
  await put(ports, pin, "manifest.json", new TextEncoder().encode(`${JSON.stringify(manifest)}\n`));
  return unwrap(await ports.registry.publish({ ...request, version: { ...wanted, description: facts.description } }));
}

/** What the code says of itself when it is asked here: nobody else's word for it is taken. */
async function factsOf(ports: AppPorts, name: string, { sha256, module, sourceMap }: Push): Promise<Manifest["facts"]> {
  const decoder = new TextDecoder();
  const code = { digest: sha256, text: decoder.decode(module), map: sourceMap === null ? "" : decoder.decode(sourceMap) };
  const facts = await ports.describe(code);
  const own = facts.id.split("/").at(-1);
  if (own !== name) throw invalid(["body", "module"], `is of an environment that calls itself ${JSON.stringify(facts.id)}: it is published under that name`);
  const bytes = new TextEncoder().encode(JSON.stringify(facts)).byteLength;
  if (bytes > MAX_FACTS_BYTES) throw invalid(["body", "module"], `says ${bytes} bytes of its environment; at most ${MAX_FACTS_BYTES} are kept`);
  return facts as Manifest["facts"];
}

/** The README as it is stored then: of a push that broke off the one that came first. */
async function putReadme(ports: AppPorts, pin: PublishedPin, readme: Uint8Array): Promise<Uint8Array> {
  if ((await put(ports, pin, "README.md", readme)) === "created") return readme;
  const { name, version, digest } = pin;
  const body = await ports.store.read(publishedKey(name, version, digest, "README.md"));
  return body === null ? readme : new Uint8Array(await new Response(body).arrayBuffer());
}

/** Of the same code what is there stays. */
async function put({ store }: AppPorts, { name, version, digest }: PublishedPin, file: PublishedFile, bytes: Uint8Array): Promise<"created" | "exists"> {
  const body = new Blob([bytes as Uint8Array<ArrayBuffer>]).stream();
  return unwrap(await store.create(publishedKey(name, version, digest, file), { body, bytes: bytes.byteLength, sha256: await sha256Hex(bytes) }));
}

/** The manifest that a version was stored with; `ports` of its team. Throws `storage_damaged` where it is gone. */
export async function manifestOf({ store }: Pick<AppPorts, "store">, pin: PublishedPin): Promise<Manifest> {
  const body = await store.read(publishedKey(pin.name, pin.version, pin.digest, "manifest.json"));
  if (body === null) throw new EdgewiseError("storage_damaged", `The manifest of ${shownPin(pin)} is gone from storage.`);
  return unwrap(readManifest(await new Response(body).text(), shownPin(pin)));
}
