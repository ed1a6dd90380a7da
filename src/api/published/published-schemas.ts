import { z } from "zod";
import { plainText } from "../../config/plain-text.ts";
import { VISIBILITIES } from "../../published/published-name.ts";
import { wholeNumber } from "../schemas.ts";

/** Queries, bodies and answers of `/environmentshub`, in the terms of the `prime` client. */

const flag = z.enum(["true", "false", "True", "False"]).transform((text) => text.toLowerCase() === "true");
const visibility = z.enum(VISIBILITIES);

/** What the client sends; `tags` and `starred_only` find nothing, since nobody tags or stars anything here. */
export const hubListQuery = z.strictObject({
  limit: wholeNumber(1, 1000).default(100),
  offset: wholeNumber().default(0),
  sort_by: z.enum(["name", "created_at", "updated_at", "stars"]).default("created_at"),
  sort_order: z.enum(["asc", "desc"]).default("desc"),
  owner: plainText(64).optional(),
  visibility: visibility.optional(),
  search: plainText(200).optional(),
  tags: plainText(200).optional(),
  starred_only: flag.optional(),
  mine_only: flag.optional(),
  include_teams: flag.optional(),
});

/** The part `manifest` of a push; `module`, `source_map` and `readme` are parts of their own. */
export const pushManifest = z.strictObject({
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, "must be a sha256 digest in lower-case hex")
    .describe("Of the part `module`."),
  visibility: visibility.optional().describe("Absent = it stays as it is; PRIVATE for a new one."),
});
export const visibilityBody = z.strictObject({ visibility });

const text = z.string();
const moment = z.iso.datetime().nullable();
const versionFacts = z.strictObject({ semantic_version: text, content_hash: text, created_at: moment });
/** An argument of an environment. `schema` is what foreign code says of itself: JSON Schema, or none that makes sense. */
export const argumentFacts = z.strictObject({
  name: text,
  schema: z.record(text, z.json()).describe("JSON Schema of its values."),
  required: z.boolean(),
  default: z.json().optional(),
  description: text.nullable(),
});
const metadata = z.looseObject({
  description: text,
  args: z
    .array(argumentFacts)
    .nullable()
    .describe("Its own arguments; those of data sets are `dataset_arguments` of getOptions. Null: not known without its code."),
  defaults: z.strictObject({ num_examples: z.number().optional(), rollouts_per_example: z.number().optional() }).describe("Where a creation says nothing."),
  keys: z.array(text).describe("Variables whose values it declares that it needs."),
  hosts: z.array(text).describe("Hosts that its code sends requests to itself."),
  readme: z
    .strictObject({ sha256: text, bytes: z.int() })
    .nullable()
    .optional()
    .describe("Of a published one: a text for those who look at it, which getEnvironmentReadme gives; null = it was pushed without."),
});
const described = {
  id: text.describe("One part of an address, which a creation takes back."),
  name: text,
  owner: z.strictObject({ name: text }),
  description: text,
  visibility,
  latest_version: versionFacts,
  version: versionFacts.describe("The one that was asked for."),
  metadata: metadata.describe("Of a published one also what its code is."),
};
export const environment = z.strictObject({ ...described, data: z.strictObject(described) });
export const environmentStatus = z.strictObject({
  data: z.strictObject({ name: text, owner: z.strictObject({ name: text }), description: text, visibility, latest_version: versionFacts }),
});
export const environmentVersions = z.strictObject({
  data: z.array(
    z.strictObject({
      version: text,
      created_at: moment,
      created_by: text.nullable(),
      sha256: text,
      size: z.literal(1).describe("Artifacts, as the client counts them."),
      bytes: z.int().nullable(),
      latest: z.boolean(),
    }),
  ),
});
export const environmentList = z.strictObject({
  data: z.array(
    z.strictObject({
      id: text,
      name: text,
      owner: z.strictObject({ name: text }),
      description: text,
      visibility,
      latest_version: text,
      stars: z.literal(0),
      tags: z.array(text),
      created_at: moment,
      updated_at: moment,
      bundled: z.boolean(),
    }),
  ),
  total_count: z.int(),
  limit: z.int(),
  offset: z.int(),
});
export const pushed = z.strictObject({
  data: z.strictObject({
    id: text,
    name: text,
    owner: z.strictObject({ name: text }),
    version: text,
    sha256: text,
    visibility,
    latest: z.boolean(),
    readme: text.nullable().describe("sha256 of the README that the version has: the one that it was pushed with first."),
  }),
});
