import { Hono } from "hono";
import type { TokenFacts } from "../../../durable-objects/directory/directory-control.ts";
import { lifetime } from "../../teams/lifetime.ts";
import { digestOfToken, drawToken } from "../../teams/token-text.ts";
import type { AppContext } from "../app-context.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { administered, directoryOf } from "./directory-of.ts";
import { teamQuery, tokenBody } from "./people-schemas.ts";

/** `/tokens`: those of a team. The text of one is in the answer that makes it, and nowhere else. */
export const tokens = new Hono<AppContext>();

const iso = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

const shown = ({ created_at, expires_at, revoked_at, used_at, ...facts }: TokenFacts) => ({
  ...facts,
  created_at: iso(created_at),
  expires_at: iso(expires_at),
  revoked_at: iso(revoked_at),
  last_used_at: iso(used_at),
});

tokens.get("/", async (c) => {
  const { team_id } = check(teamQuery, c.req.query(), "query");
  const team = await administered(c, team_id);
  const all = await readTwice(
    () => directoryOf(c),
    (directory) => directory.listTokens(team),
  );
  return c.json({ data: all.map(shown) });
});

tokens.post("/", async (c) => {
  const { audit, caller, ports } = c.var;
  const { name, scopes, expires_in, user, teams, limits = {} } = parseBody(tokenBody, await readJsonText(c.req.raw));
  const text = drawToken();
  const id = crypto.randomUUID().replaceAll("-", "").slice(0, 12);
  const good = await Promise.all([...new Set(teams ?? [ports.team])].map((team) => administered(c, team)));
  for (const team of good) await audit.begin(ports.inTeam(team));
  audit.made(id);
  const made = await directoryOf(c).createToken({
    id,
    digest: await digestOfToken(text),
    name,
    user: user ?? caller.user,
    teams: good,
    scopes,
    created_by: caller.user,
    limits,
    expires_at: expires_in === undefined ? null : ports.now() + (lifetime(expires_in) ?? 0),
  });
  return c.json({ data: { ...shown(unwrap(made)), token: text } }, 201);
});

tokens.delete("/:token", async (c) => {
  const { audit, caller, ports, principals } = c.var;
  const id = c.req.param("token");
  const facts = unwrap(await directoryOf(c).revokeToken(id, caller.owner ? null : caller.teams));
  principals.forget();
  // Where it was good is known only now.
  for (const team of facts.teams) await audit.begin(ports.inTeam(team));
  return c.json({ data: shown(facts) });
});
