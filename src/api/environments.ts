import { Hono } from "hono";
import { canonicalJson } from "../config/canonical-json.ts";
import type { EnvironmentFacts } from "./creation/resolve.ts";
import { sha256Hex } from "../config/sha256.ts";
import { OWNER } from "../teams/caller.ts";
import type { AppContext } from "./app-context.ts";
import { findByReference } from "./environment-ids.ts";
import { unwrap } from "./errors.ts";

/** `/environmentshub`: what the service can evaluate, as the `prime` client looks it up before a creation. */
export const environments = new Hono<AppContext>();

environments.get("/:owner/:name/:version{@.+}", async (c) => {
  const { owner, name, version } = c.req.param();
  const environment = unwrap(findByReference(c.var.ports, `${owner}/${name}${version === "@latest" ? "" : version}`));
  const described = {
    // The bare name: safe in URLs, short, and what a creation takes back.
    id: environment.id,
    name: environment.id,
    owner: { name: OWNER },
    description: environment.description,
    visibility: "PUBLIC",
    latest_version: { semantic_version: environment.version, content_hash: await contentHash(environment) },
    metadata: { description: environment.description },
  };
  return c.json({ ...described, data: described });
});

/** Hex sha256 over what the environment's code was made from. */
const contentHash = ({ id, version, source }: EnvironmentFacts): Promise<string> => sha256Hex(canonicalJson({ id, version, source }));
