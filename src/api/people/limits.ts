import { type Context, Hono } from "hono";
import type { LimitFacts } from "../../../durable-objects/registry/registry-control.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { LIMITS, TEAM_LIMITS } from "../../teams/limits.ts";
import { teamField } from "../../teams/team-name.ts";
import { ownTeam } from "../access/team-of-request.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { readTwice } from "../read-twice.ts";
import { administered } from "./directory-of.ts";
import { limitBody } from "./limit-schemas.ts";
import { teamPath } from "./people-schemas.ts";

/** `/teams/{team}/limits`: what a team may use, and what it does. Its members see them; the owner of the service sets them, and who administers the team how long runs stay. */
export const limits = new Hono<AppContext>();

const shown = (team: string, { set, ...facts }: LimitFacts) => ({ data: { team, ...facts, set: Object.keys(set) } });

/** The team in the path, with its ports. */
async function teamIn(c: Context<AppContext>): Promise<AppPorts> {
  const { caller, ports } = c.var;
  const { team } = check(teamPath, c.req.param(), "path");
  return ports.inTeam(caller.owner ? await administered(c, team) : ownTeam(caller, team));
}

limits.get("/:team/limits", async (c) => {
  const ports = await teamIn(c);
  const facts = await readTwice(
    () => ports.registry,
    (registry) => registry.limits(teamField(ports.team)),
  );
  return c.json(shown(ports.team, facts));
});

limits.put("/:team/limits", async (c) => {
  const changes = parseBody(limitBody, await readJsonText(c.req.raw));
  const ports = await teamIn(c);
  const others = TEAM_LIMITS.filter((name) => changes[name] !== undefined && LIMITS[name].setBy === "owner");
  if (!c.var.caller.owner && others.length > 0)
    throw new EdgewiseError("forbidden", `${others.join(", ")}: set by the owner of the service alone.`, { hint: "Use EDGEWISE_TOKEN." });
  await c.var.audit.begin(ports);
  const told = TEAM_LIMITS.flatMap((name) => (changes[name] === undefined ? [] : [`${name}=${changes[name] ?? "none"}`]));
  c.var.audit.made(ports.team, ...told);
  return c.json(shown(ports.team, await ports.registry.setLimits(teamField(ports.team), changes)));
});
