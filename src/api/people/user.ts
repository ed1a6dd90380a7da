import { Hono } from "hono";
import type { z } from "zod";
import type { Caller } from "../../teams/caller.ts";
import { allows, type Scope, SCOPES } from "../../teams/scopes.ts";
import { portsFor } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import type { AppFacts } from "../app-ports.ts";
import { check } from "../body.ts";
import { teamsQuery, whoamiQuery } from "../schemas.ts";
import type { callerFacts as callerSchema } from "./caller-schemas.ts";

type CallerFacts = z.infer<typeof callerSchema>;

/** `/user`: who calls, in the terms of the `prime` client. */
export const user = new Hono<AppContext>();

/** What scopes are good for, by what the client calls things. */
function clientScope(scopes: readonly Scope[]): Record<string, { readonly read: boolean; readonly write: boolean }> {
  const of = (write: Scope, read?: Scope) => ({ read: read === undefined || allows(scopes, read), write: allows(scopes, write) });
  return { evaluations: of("runs:write", "runs:read"), environments: of("environments:write"), secrets: of("secrets:write", "secrets:write") };
}

user.get("/whoami", async (c) => {
  const { teamId } = check(whoamiQuery, c.req.query(), "query");
  const { caller } = c.var;
  await portsFor(c, teamId);
  const { user: name, scopes } = caller;
  const edgewise = callerFacts(caller, c.var.ports.facts);
  return c.json({ data: { id: name, email: null, name, slug: name, scope: clientScope(scopes), account_limits: null, key_limits: null, edgewise } });
});

/** Who calls in our own terms; never anything of the credential but the token's id. */
const callerFacts = ({ owner, scopes, teams, token, via, expires_at }: Caller, { version, local }: AppFacts): CallerFacts => ({
  owner,
  // With what they include, so that nobody else has to know that.
  scopes: SCOPES.filter((scope) => owner || allows(scopes, scope)),
  teams: [...teams],
  via,
  token,
  expires_at: expires_at === null ? null : new Date(expires_at).toISOString(),
  version,
  local,
});

user.get("/teams", (c) => {
  const { offset, limit } = check(teamsQuery, c.req.query(), "query");
  const { teams } = c.var.caller;
  const data = teams.slice(offset, offset + limit).map((team) => ({ teamId: team, slug: team, name: team }));
  return c.json({ data, total_count: teams.length, offset, limit });
});
