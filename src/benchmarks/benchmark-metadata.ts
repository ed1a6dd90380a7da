/** A benchmark's `metadata.yaml`: what it says of itself. */
import { parse } from "yaml";
import { z } from "zod";
import { EdgewiseError } from "../errors/result.ts";

const text = z.union([z.string(), z.number(), z.boolean()]).transform(String).nullish();

const METADATA = z.looseObject({ name: text, id: text, description: text, version: text });

export interface BenchmarkMetadata {
  /** Null = nothing is said. */
  readonly name: string | null;
  readonly id: string | null;
  readonly description: string | null;
  readonly version: string | null;
}

/** `name`, `id`, `description` and `version`; other keys are for who made it. An empty file says nothing. Throws `invalid_request` that names `file` for what is no YAML, or no mapping. */
export function readBenchmarkMetadata(yaml: string, file: string): BenchmarkMetadata {
  let document: unknown;
  try {
    document = parse(yaml, { prettyErrors: true }) ?? {};
  } catch (thrown) {
    // The first line says what and where; the others quote the file.
    const [reason = ""] = (thrown instanceof Error ? thrown.message : String(thrown)).split("\n");
    throw new EdgewiseError("invalid_request", `${file} is no YAML: ${reason}`);
  }
  const read = METADATA.safeParse(document);
  if (!read.success) {
    const reasons = read.error.issues.map(({ path, message }) => (path.length === 0 ? "it must be a mapping" : `${path.join(".")}: ${message}`));
    throw new EdgewiseError("invalid_request", `${file}: ${reasons.join("; ")}`, {
      hint: "It may have name, id, description and version; other keys are not read.",
    });
  }
  const { name, id, description, version } = read.data;
  return { name: name || null, id: id || null, description: description || null, version: version || null };
}
