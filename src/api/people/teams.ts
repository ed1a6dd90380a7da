import { type Context, Hono } from "hono";
import type { TeamFacts } from "../../../durable-objects/directory/directory-control.ts";
import type { AppContext } from "../app-context.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { unwrap } from "../errors.ts";
import { readTwice } from "../read-twice.ts";
import { emptyBody } from "../schemas.ts";
import { directoryOf, isThere } from "./directory-of.ts";
import { memberBody, memberPath, teamPath } from "./people-schemas.ts";

/** `/teams`: teams and who belongs to them. The owner makes them; who administers a team sees it. */
export const teams = new Hono<AppContext>();

const shown = ({ created_at, ...facts }: TeamFacts) => ({ ...facts, created_at: new Date(created_at).toISOString() });

/** In the audit of the team too, where there is one. */
async function noteIn(c: Context<AppContext>, team: string): Promise<void> {
  if (await isThere(c, team)) await c.var.audit.begin(c.var.ports.inTeam(team));
}

teams.get("/", async (c) => {
  const { caller } = c.var;
  const all = await readTwice(
    () => directoryOf(c),
    (directory) => directory.listTeams(),
  );
  return c.json({ data: all.filter(({ team }) => caller.owner || caller.teams.includes(team)).map(shown) });
});

teams.put("/:team", async (c) => {
  const { team } = check(teamPath, c.req.param(), "path");
  parseBody(emptyBody, await readJsonText(c.req.raw));
  const facts = unwrap(await directoryOf(c).createTeam(team));
  await c.var.audit.begin(c.var.ports.inTeam(team));
  return c.json({ data: shown(facts) });
});

teams.put("/:team/members/:user", async (c) => {
  const { team, user } = check(memberPath, c.req.param(), "path");
  const { email, scopes } = parseBody(memberBody, await readJsonText(c.req.raw));
  await noteIn(c, team);
  const facts = unwrap(await directoryOf(c).putMember({ team, user, email: email ?? null, scopes: scopes ?? null }));
  c.var.principals.forget();
  return c.json({ data: shown(facts) });
});

teams.delete("/:team/members/:user", async (c) => {
  const { team, user } = check(memberPath, c.req.param(), "path");
  await noteIn(c, team);
  const facts = unwrap(await directoryOf(c).removeMember(team, user));
  c.var.principals.forget();
  return c.json({ data: shown(facts) });
});
