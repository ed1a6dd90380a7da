import { type Context, Hono } from "hono";
import type { LimiterView } from "../../../durable-objects/limiter/limiter-control.ts";
import type { SeenLimiter } from "../../../durable-objects/registry/limiters/limiter-index-control.ts";
import type { GivenLimit } from "../../config/endpoints/given-limit.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { DEFAULT_TEAM } from "../../teams/team-name.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { writtenOut } from "../creation/named-limits.ts";
import { invalid, logUnexpected, unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { readTwice } from "../read-twice.ts";
import { givenBody, givenPath, limiterPath, limitersQuery, limitQuery } from "./endpoint-limit-schemas.ts";
import { someAtOnce } from "../some-at-once.ts";
import { shownGiven, shownLimiter } from "./shown-limiter.ts";
import { tellLimiters } from "./tell-limiters.ts";

/** `/limits`: what endpoints bear for each key, as found, told and given. What a team may use of the service is `/teams/{team}/limits`. */
export const endpointLimits = new Hono<AppContext>();

const noLimiter = (): EdgewiseError => new EdgewiseError("not_found", "Limiter not found.", { hint: "`npx edgewise limits` shows those there are." });
const noLimit = (): EdgewiseError =>
  new EdgewiseError("not_found", "No limit of that name is given.", { hint: "`npx edgewise limits given` shows those there are." });

async function portsOf(c: Context<AppContext>): Promise<AppPorts> {
  const { team_id } = check(limitQuery, c.req.query(), "query");
  return c.var.ports.inTeam(await administered(c, team_id));
}
const nameIn = (c: Context<AppContext>): string => check(givenPath, c.req.param(), "path").limit;

endpointLimits.get("/", async (c) => {
  const { team_id, skip, limit } = check(limitersQuery, c.req.query(), "query");
  const ports = c.var.ports.inTeam(await administered(c, team_id));
  const [all, kept] = await readTwice(
    () => ports.registry,
    (registry) => Promise.all([registry.listLimiters(), registry.listKeptLimits()]),
  );
  const seen = all.filter((each) => maySee(c, each));
  const data = await someAtOnce(seen.slice(skip, skip + limit), async (each) => shownLimiter(each, await viewOf(c, ports, each), kept));
  return c.json({ data, total: seen.length, skip, limit });
});

endpointLimits.get("/given", async (c) => {
  const ports = await portsOf(c);
  const all = await readTwice(
    () => ports.registry,
    (registry) => registry.listKeptLimits(),
  );
  return c.json({ data: all.map(shownGiven) });
});

endpointLimits.get("/given/:limit", async (c) => {
  const ports = await portsOf(c);
  const name = nameIn(c);
  const found = await readTwice(
    () => ports.registry,
    (registry) => registry.keptLimit(name),
  );
  if (found === null) throw noLimit();
  return c.json({ data: shownGiven(found) });
});

endpointLimits.put("/given/:limit", async (c) => {
  const ports = await portsOf(c);
  const name = nameIn(c);
  const row = parseBody(givenBody, await readJsonText(c.req.raw));
  const limits = (await writtenOut(ports, [row], ["body"])) ?? [];
  const before = (await ports.registry.keptLimit(name))?.limits ?? [];
  await mayGive(c, ports, [...before, ...limits]);
  await c.var.audit.begin(ports);
  const put = unwrap(await ports.registry.putLimit({ name, limits, user: c.var.caller.user }));
  await tellLimiters(ports, [...before, ...limits]);
  return c.json({ data: shownGiven(put) });
});

endpointLimits.delete("/given/:limit", async (c) => {
  const ports = await portsOf(c);
  const name = nameIn(c);
  // Whichever version stored it, it may be cleared; what it was is then not known here.
  const before = c.var.caller.owner ? null : await ports.registry.keptLimit(name);
  if (before !== null) await mayGive(c, ports, before.limits);
  await c.var.audit.begin(ports);
  const was = await ports.registry.deleteLimit(name);
  if (was === null) throw noLimit();
  await tellLimiters(ports, was.limits);
  return c.json({ message: "Limit cleared: nothing is given under this name any more." });
});

endpointLimits.get("/:limiter", async (c) => {
  const ports = await portsOf(c);
  const found = await limiterIn(c, ports);
  const kept = await readTwice(
    () => ports.registry,
    (registry) => registry.listKeptLimits(),
  );
  return c.json({ data: shownLimiter(found, await viewOf(c, ports, found), kept) });
});

endpointLimits.post("/:limiter/forget", async (c) => {
  const ports = await portsOf(c);
  const { name, place } = await limiterIn(c, ports);
  await mayGive(c, ports, [{ ...place, limits: {} }]);
  await mayForget(c, ports, name);
  await c.var.audit.begin(ports);
  await readTwice(
    () => ports.limiter(name),
    async (limiter) => {
      if (limiter === null) throw noLimiter();
      await limiter.forget();
    },
  );
  return c.json({ message: "Forgotten: what the endpoint bears is found anew. What is given stays." });
});

async function limiterIn(c: Context<AppContext>, ports: AppPorts): Promise<SeenLimiter> {
  const { limiter } = check(limiterPath, c.req.param(), "path");
  const found = await readTwice(
    () => ports.registry,
    (registry) => registry.seenLimiter(limiter),
  );
  if (found === null || !maySee(c, found)) throw noLimiter();
  return found;
}

/** What only other teams call is theirs, and the owner's of the service. */
const maySee = (c: Context<AppContext>, { own }: SeenLimiter): boolean => own || c.var.caller.owner;

/** What it says of itself; runs of other teams are named to the owner of the service alone. Null where it knows nothing, or does not answer: the others are shown all the same. */
async function viewOf(c: Context<AppContext>, ports: AppPorts, { name }: SeenLimiter): Promise<LimiterView | null> {
  try {
    return await readTwice(
      () => ports.limiter(name),
      async (limiter) => (limiter === null ? null : limiter.view(c.var.caller.owner ? null : ports.team)),
    );
  } catch (thrown) {
    logUnexpected("limiter", thrown);
    return null;
  }
}

/** The owner gives limits of every key; who administers the keys of a team, those of the team's own, since a key of the service is others' too. */
async function mayGive(c: Context<AppContext>, ports: AppPorts, limits: readonly Omit<GivenLimit, "base_url">[]): Promise<void> {
  if (c.var.caller.owner) return;
  for (const name of new Set(limits.map(({ api_key_var }) => api_key_var))) {
    if (name === undefined) throw invalid(["body", "api_key_var"], "must name a key of the team: limits of every key are given by the owner of the service");
    if (!(await ports.registry.hasOwnKey(name)))
      throw new EdgewiseError("forbidden", `${name} is no key of this team: limits of the service's keys are given by its owner.`, {
        hint: `A key of the team's own is a secret: npx edgewise secret create ${name}`,
      });
  }
}

/** A secret of the name that a key of the service has makes the team's runs call another Limiter from then on, and the one that they called before is others' still. */
async function mayForget(c: Context<AppContext>, ports: AppPorts, name: string): Promise<void> {
  if (c.var.caller.owner || ports.team === DEFAULT_TEAM) return;
  const ofService = await readTwice(
    () => ports.inTeam(DEFAULT_TEAM).registry,
    (registry) => registry.listLimiters(),
  );
  if (ofService.some((each) => each.name === name))
    throw new EdgewiseError("forbidden", "This limiter is of a key of the service: what was found of it is forgotten at the word of its owner.");
}
