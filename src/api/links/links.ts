import { type Context, Hono } from "hono";
import { EdgewiseError } from "../../errors/result.ts";
import { linkAddress, linkAddressProblem } from "../../links/link-address.ts";
import { BRING_BACK, chosenLink, type Link } from "../../links/link.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { InvalidRequest, unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import { readTwice } from "../read-twice.ts";
import { drawId, sealerOf } from "../secrets/sealing.ts";
import { agreedFacts, healthOfLink } from "./ask-servers.ts";
import { leaseBody, linkBody, linkDeletion, linkPath, linkQuery } from "./link-schemas.ts";

/** `/environments/linked`: environments of a team whose code runs in processes that the service reaches by HTTP (docs/linked-environments.md). */
export const links = new Hono<AppContext>();

const iso = (at: number): string => new Date(at).toISOString();
const shown = ({ name, command, urls, facts, linked_at, linked_by, lease_until }: Link) => ({
  name,
  urls,
  ...{ environment: facts.id, version: facts.version, description: facts.description, digest: facts.source },
  ...{ args: facts.args, defaults: facts.defaults, keys: facts.keys, hosts: facts.hosts ?? [] },
  ...{ linked_at: iso(linked_at), linked_by, command, lease_until: lease_until === null ? null : iso(lease_until) },
});

async function portsOf(c: Context<AppContext>, team: string | undefined): Promise<AppPorts> {
  return c.var.ports.inTeam(await administered(c, team));
}
const ofQuery = (c: Context<AppContext>): Promise<AppPorts> => portsOf(c, check(linkQuery, c.req.query(), "query").team_id);
const nameIn = (c: Context<AppContext>): string => check(linkPath, { link: c.req.param("link") }, "path").link;

const notLinked = (name: string): EdgewiseError =>
  new EdgewiseError("not_found", `Nothing is linked as ${name}.`, { hint: "`npx edgewise env list` shows what is." });

links.get("/", async (c) => {
  const ports = await ofQuery(c);
  const all = await readTwice(
    () => ports.registry,
    (registry) => registry.listEnvironmentLinks(),
  );
  return c.json({ data: all.map(shown) });
});

links.get("/:link", async (c) => {
  const ports = await ofQuery(c);
  const name = nameIn(c);
  const all = await readTwice(
    () => ports.registry,
    (registry) => registry.environmentLinks(name),
  );
  const link = chosenLink(all, ports.now(), null);
  if (link === null) throw notLinked(name);
  return c.json({ data: { ...shown(link), servers: await healthOfLink(ports, link) } });
});

links.put("/:link", async (c) => {
  const ports = await ofQuery(c);
  const name = nameIn(c);
  const { urls: given, token, lease_seconds, command = null } = parseBody(linkBody, await readJsonText(c.req.raw));
  const problems = given.flatMap((url, at) => {
    const msg = linkAddressProblem(url, ports.facts.local);
    return msg === null ? [] : [{ loc: ["body", "urls", at], msg }];
  });
  if (problems.length > 0) throw new InvalidRequest(problems);
  const urls = [...new Set(given.map(linkAddress))];
  await c.var.audit.begin(ports);
  // That there is no master key is said before anybody is asked.
  const seal = await sealerOf(ports);
  const facts = await agreedFacts(ports, urls, token);
  const id = `link-${drawId()}`;
  const lease_ms = lease_seconds === undefined ? null : lease_seconds * 1_000;
  const made = await ports.registry.linkEnvironment({ name, command, id, urls, ...(await seal(id, token)), facts, linked_by: c.var.caller.user, lease_ms });
  return c.json({ data: shown(unwrap(made)) });
});

links.post("/:link/lease", async (c) => {
  const ports = await ofQuery(c);
  const name = nameIn(c);
  const { command, lease_seconds } = parseBody(leaseBody, await readJsonText(c.req.raw));
  const renewed = await ports.registry.renewEnvironmentLink({ name, command, lease_ms: lease_seconds * 1_000 });
  if (renewed === null) throw new EdgewiseError("not_found", `The link ${name} of this command has lapsed.`, { hint: "Link it again (PUT)." });
  return c.json({ data: { lease_until: iso(renewed.lease_until ?? ports.now()) } });
});

links.delete("/:link", async (c) => {
  const { team_id, command = null } = check(linkDeletion, c.req.query(), "query");
  const ports = await portsOf(c, team_id);
  const name = nameIn(c);
  await c.var.audit.begin(ports);
  if (!(await ports.registry.unlinkEnvironment({ name, command }))) throw notLinked(name);
  return c.json({ message: `${name} is unlinked. Runs that were made with it stay, and wait for it. ${BRING_BACK(name)}` });
});
