import { z } from "zod";
import { CLIENT_TYPES } from "../../config/plan/run-config.ts";
import { OPTIONS } from "../../config/options/options.ts";
import { teamQuery } from "../people/people-schemas.ts";

/** Bodies, paths and answers of `/endpoints`. Entries are those of endpoints.toml, which `readRegistry` reads. */

/** Entries of one request. */
const MAX_ENTRIES = 1_000;

const ENDPOINT_ID = /^[A-Za-z0-9][\w.:/@+-]{0,127}$/;
const endpointId = z.string().regex(ENDPOINT_ID, "must be an endpoint id: 1 to 128 letters, digits and . _ - : / @ +, a letter or digit first");

const rows = z
  .array(z.record(z.string(), z.json()))
  .min(1, "must have an entry")
  .max(MAX_ENTRIES)
  .describe(
    "As [[endpoint]] of endpoints.toml has them: model, url (api_base_url), key (api_key_var), and where they are wanted type (api_client_type) and headers.",
  );

export const endpointQuery = teamQuery;
export const endpointPath = z.strictObject({ endpoint: endpointId });
/** Each entry says its `endpoint_id`. */
export const addBody = z.strictObject({ endpoint: rows });
/** Of the endpoint in the path. */
export const replaceBody = z.strictObject({ endpoint: rows });

/** What an entry must keep to beyond the form of the file: as in a creation. */
export const entryRules = z.object({
  endpoint_id: endpointId,
  model: OPTIONS.model.schema,
  api_base_url: OPTIONS.api_base_url.schema,
  api_key_var: OPTIONS.api_key_var.schema,
  headers: OPTIONS.headers.schema,
});

export const modelsQuery = teamQuery.extend({
  endpoint_id: endpointId.optional().describe("An endpoint of the team, in the place of all others."),
  api_base_url: OPTIONS.api_base_url.schema.optional().describe("As of a creation; left out: where the service calls models."),
  api_key_var: OPTIONS.api_key_var.schema.optional().describe("The name of the key; left out: the service's own."),
  api_client_type: z.enum(CLIENT_TYPES).optional(),
});

const text = z.string();
const endpoint = z.strictObject({
  endpoint_id: text,
  model: text,
  api_client_type: z.enum(CLIENT_TYPES).nullable().describe("Null: the default."),
  replicas: z.array(z.strictObject({ api_base_url: text, api_key_var: text.describe("The name of the key, never the key."), headers: z.record(text, text) })),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  updated_by: text,
});
export const endpointList = z.strictObject({ data: z.array(endpoint) });
export const modelList = z.strictObject({
  data: z.array(text).describe("Names, ascending. Whoever runs the server wrote them."),
  more: z.boolean().describe("It lists more than are told."),
  problem: text.nullable().describe("Why none is told: no key, not reached, refused, no list; else null. It may be called all the same."),
});
export const endpointAnswer = z.strictObject({ data: endpoint });
