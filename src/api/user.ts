import { Hono } from "hono";
import type { AppContext } from "./app-context.ts";
import { check } from "./body.ts";
import { OWNER } from "./environment-ids.ts";
import { teamsQuery, whoamiQuery } from "./schemas.ts";

/** `/user`: whoever has the token is the one user, who owns the bundled environments. */
export const user = new Hono<AppContext>();

/** What the token is good for, in the client's own terms. */
const SCOPE = { evaluations: { read: true, write: true }, environments: { read: true, write: false } };

user.get("/whoami", (c) => {
  check(whoamiQuery, c.req.query(), "query");
  return c.json({ data: { id: OWNER, email: null, name: OWNER, slug: OWNER, scope: SCOPE, account_limits: null, key_limits: null } });
});

user.get("/teams", (c) => {
  const { offset, limit } = check(teamsQuery, c.req.query(), "query");
  return c.json({ data: [], total_count: 0, offset, limit });
});
