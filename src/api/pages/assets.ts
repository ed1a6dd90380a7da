import { Hono } from "hono";
import { EdgewiseError } from "../../errors/result.ts";
import { checkPlace } from "../access/place.ts";
import type { AppContext } from "../app-context.ts";
import { unwrap } from "../errors.ts";
import { ASSET_NAME, ASSETS_POLICY } from "./built-dashboard.ts";

/**
 * The dashboard's scripts and styles, which are the same for everybody and say nothing. Deployed the platform sends them before the Worker is asked; this
 * is the local service's way to them.
 */
export const assets = new Hono<AppContext>();

const TYPES: Readonly<Record<string, string>> = { css: "text/css; charset=UTF-8", js: "text/javascript; charset=UTF-8" };

assets.get("/:name", async (c) => {
  const { ports } = c.var;
  unwrap(checkPlace(c.req.raw, ports.facts));
  const name = c.req.param("name");
  const found = ports.assets === null || !ASSET_NAME.test(name) ? null : await ports.assets.fetch(c.req.raw);
  if (found === null || !found.ok) throw new EdgewiseError("not_found", "No such route.");
  return new Response(found.body, {
    headers: {
      "content-type": TYPES[name.split(".").at(-1) ?? ""] ?? "application/octet-stream",
      "cache-control": "public, max-age=31536000, immutable",
      "cross-origin-resource-policy": "same-origin",
      "content-security-policy": ASSETS_POLICY,
    },
  });
});
