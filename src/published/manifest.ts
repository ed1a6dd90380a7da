import { z } from "zod";
import type { EnvironmentFacts } from "../environments/definition/describe.ts";
import { FACTS_SCHEMA } from "../environments/definition/facts-schema.ts";
import { fail, ok, type Result } from "../errors/result.ts";
import { isPublishedName } from "./published-name.ts";
import { isVersion } from "./published-version.ts";

/** Version of the form of a manifest; one of another version is refused by name. */
export const MANIFEST_VERSION = 1;

const DIGEST = z.string().regex(/^[0-9a-f]{64}$/);
const stored = z.object({ sha256: DIGEST, bytes: z.int().min(1) });

/** What stands beside the code of one version: enough to offer the environment without loading it. */
const MANIFEST = z.object({
  format: z.literal(MANIFEST_VERSION),
  owner: z.string(),
  name: z.string().refine(isPublishedName),
  version: z.string().refine(isVersion),
  module: stored,
  source_map: stored.nullable(),
  /** Absent or null: it was pushed without one, as all were before there were any. */
  readme: stored.nullish(),
  /** Of the environment as runs know it: `id` is `owner/name`, `version` that of the manifest. */
  facts: FACTS_SCHEMA,
  /** Of edgewise, that it was made with. */
  made_with: z.string(),
  created_at: z.int(),
  created_by: z.string(),
});

export interface Manifest extends z.infer<typeof MANIFEST> {
  readonly facts: z.infer<typeof FACTS_SCHEMA> & EnvironmentFacts;
}

/** A stored manifest. Fails with `stored_version_unknown` for one of another version, and `storage_damaged` for what is none. */
export function readManifest(text: string, name: string): Result<Manifest> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = null;
  }
  const format = (value as { readonly format?: unknown } | null)?.format;
  if (typeof format === "number" && format !== MANIFEST_VERSION)
    return fail(
      "stored_version_unknown",
      `The environment ${name} was published by another version of edgewise (${format}).`,
      "Use that version, or a newer one; or publish the environment again.",
    );
  const parsed = MANIFEST.safeParse(value);
  return parsed.success ? ok(parsed.data as Manifest) : fail("storage_damaged", `The manifest of the environment ${name} is damaged.`);
}
