import { publishedKey } from "../../r2-layout/keys.ts";
import type { PublishedPin } from "../config/plan/published-pin.ts";
import { sha256Hex } from "../config/sha256.ts";
import type { Env } from "../env.ts";
import type { OfferedFacts } from "../environments/definition/offered.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { CodeText, IsolatedModule } from "../isolates/isolated-module.ts";
import { MAX_MODULE_BYTES } from "../limits.ts";
import { count } from "../operations.ts";
import { readManifest } from "../published/manifest.ts";
import { shownPin, teamOfOwner } from "../published/published-name.ts";
import { teamPrefix } from "../teams/team-name.ts";
import { Kept } from "./kept.ts";

/** Of this process: a version never changes. Sizes are in characters. */
const FACTS = new Kept<OfferedFacts>(MAX_MODULE_BYTES / 8);
const TEXTS = new Kept<CodeText>(MAX_MODULE_BYTES);

/**
 * What a run is pinned to, whether the version is listed any more or not; null where its code is gone. Rejects, with an error that may pass, where storage does not
 * answer, and with `stored_version_unknown` or `storage_damaged` for what is not as it was stored.
 */
export async function publishedModule({ BUCKET }: Pick<Env, "BUCKET">, pin: PublishedPin): Promise<IsolatedModule | null> {
  const team = teamOfOwner(pin.owner);
  if (team === null) return null;
  const name = shownPin(pin);
  const read = async (file: "manifest.json" | "module.js" | "module.js.map"): Promise<string | null> => {
    count("r2_class_b");
    const key = `${teamPrefix(team)}${publishedKey(pin.name, pin.version, pin.digest, file)}`;
    try {
      return (await (await BUCKET.get(key))?.text()) ?? null;
    } catch (cause) {
      throw new EdgewiseError("storage_unavailable", `The code of ${name} cannot be read now.`, { cause, passing: true });
    }
  };
  const facts = await FACTS.of(`${name} ${pin.digest}`, async () => {
    const text = await read("manifest.json");
    if (text === null) return null;
    const manifest = readManifest(text, name);
    if (!manifest.ok)
      throw new EdgewiseError(manifest.error.code, manifest.error.message, manifest.error.hint === undefined ? {} : { hint: manifest.error.hint });
    const { args: _, ...said } = manifest.value.facts;
    return { value: { ...said, source: pin.digest }, size: text.length };
  });
  if (facts === null) return null;
  const code = async (): Promise<CodeText> => {
    const found = await TEXTS.of(`${name} ${pin.digest}`, async () => {
      const [text, map] = [await read("module.js"), await read("module.js.map")];
      if (text === null) return null;
      if ((await sha256Hex(text)) !== pin.digest) throw new EdgewiseError("storage_damaged", `The code of ${name} is not what was published.`);
      return { value: { text, map: map ?? "" }, size: text.length + (map?.length ?? 0) };
    });
    if (found === null) throw new EdgewiseError("storage_damaged", `The code of ${name} is gone from storage.`);
    return found;
  };
  return { facts, code };
}
