import { type Context, Hono } from "hono";
import { type PublishedFile, publishedKey } from "../../../r2-layout/keys.ts";
import { isBundled } from "../../environments/definition/load.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { isPublishedName, NAME_RULE, ownerOf, publishedId, publishedSlug, shownPin, teamOfOwner } from "../../published/published-name.ts";
import { isVersion, latestOf, VERSION_RULE } from "../../published/published-version.ts";
import { OWNER } from "../../teams/caller.ts";
import type { AppContext } from "../app-context.ts";
import type { AppPorts } from "../app-ports.ts";
import { check, parseBody, readJsonText } from "../body.ts";
import { findOwn } from "../environment-ids.ts";
import { invalid, unwrap } from "../errors.ts";
import { administered } from "../people/directory-of.ts";
import type { EnvironmentFacts } from "../creation/resolve.ts";
import type { Link } from "../../links/link.ts";
import { isLinkName } from "../../links/link-name.ts";
import { linkOf } from "../links/find-linked.ts";
import { findPublished, type FoundEnvironment, living, noEnvironment, publishedBy, sees, versionOf } from "./find-published.ts";
import { listEnvironments } from "./list-environments.ts";
import { hubListQuery, visibilityBody } from "./published-schemas.ts";
import { readPush } from "./read-push.ts";
import { ownStatus, ownVersions, shownLinked, shownOwn, shownStatus, shownVersion, shownVersions } from "./shown.ts";
import { manifestOf, storePush } from "./store-push.ts";

/**
 * `/environmentshub`: what can be evaluated, as the `prime` client looks it up, the environments of the service and those that teams published (docs/published-environments.md).
 */
export const environmentsHub = new Hono<AppContext>();

const VERSION = ":version{@[^/]+}";

environmentsHub.get("/", async (c) => c.json(await listEnvironments(c.var.ports, c.var.caller, check(hubListQuery, c.req.query(), "query"))));

environmentsHub.get(`/:owner/:name/${VERSION}`, async (c) => {
  const wanted = c.req.param("version").slice(1);
  const published = await publishedOf(c);
  if (published === null) {
    const link = await linkNamed(c, wanted);
    return c.json(twice(link === null ? await shownOwn(await ownOf(c, wanted)) : shownLinked(c.var.ports.team, link)));
  }
  const version = versionOf(published, wanted);
  return c.json(twice(shownVersion(published, version, await manifestOf(published.ports, pinOf(published, version)))));
});

environmentsHub.get("/:owner/:name/status", async (c) => {
  const published = await publishedOf(c);
  return c.json({ data: published === null ? await ownStatus(await ownOf(c, "latest")) : shownStatus(published) });
});

environmentsHub.get("/:owner/:name/versions", async (c) => {
  const published = await publishedOf(c);
  return c.json({ data: published === null ? await ownVersions(await ownOf(c, "latest")) : shownVersions(published) });
});

environmentsHub.get(`/:owner/:name/${VERSION}/module`, (c) => sendFile(c, "module.js", "text/javascript; charset=utf-8"));
environmentsHub.get(`/:owner/:name/${VERSION}/source-map`, (c) => sendFile(c, "module.js.map", "application/json"));

environmentsHub.get(`/:owner/:name/${VERSION}/readme`, (c) => sendFile(c, "README.md", "text/markdown; charset=utf-8"));

environmentsHub.put(`/:owner/:name/${VERSION}`, async (c) => {
  const ports = await owned(c);
  const name = c.req.param("name");
  const version = c.req.param("version").slice(1);
  const push = await readPush(c.req.raw);
  if (!isPublishedName(name)) throw invalid(["path", "name"], NAME_RULE);
  if (isBundled(name)) throw invalid(["path", "name"], `${name} is a bundled environment of this service: give yours another name`);
  if (!isVersion(version)) throw invalid(["path", "version"], VERSION_RULE);
  await c.var.audit.begin(ports);
  const stored = await storePush(ports, { name, version }, push, c.var.caller.user);
  const owner = ownerOf(ports.team);
  const { visibility } = stored;
  const latest = latestOf(living(stored))?.version === version;
  // Of the same code once more it is the one of before.
  const { readme } = await manifestOf(ports, { owner, name, version, digest: push.sha256 });
  const made = { id: publishedSlug({ owner, name }), name, owner: { name: owner }, version, sha256: push.sha256, visibility, latest };
  return c.json({ data: { ...made, readme: readme?.sha256 ?? null } });
});

environmentsHub.patch("/:owner/:name", async (c) => {
  const { visibility } = parseBody(visibilityBody, await readJsonText(c.req.raw));
  const ports = await owned(c);
  const { name } = await ours(c, ports);
  await c.var.audit.begin(ports);
  const changed = unwrap(await ports.registry.changeVisibility({ name, visibility }));
  return c.json({ data: shownStatus({ owner: ownerOf(ports.team), ports, environment: changed }) });
});

environmentsHub.delete("/:owner/:name", async (c) => {
  const ports = await owned(c);
  const { name } = await ours(c, ports);
  await c.var.audit.begin(ports);
  const deleted = unwrap(await ports.registry.deletePublished({ name, version: null, now: ports.now() }));
  return c.json({ message: `${shownName(ports, name)} is deleted, ${deleted === 1 ? "with its version" : `with its ${deleted} versions`}. ${STAYS}` });
});

environmentsHub.delete(`/:owner/:name/${VERSION}`, async (c) => {
  const ports = await owned(c);
  const environment = await ours(c, ports);
  const { name } = environment;
  const { version } = versionOf({ owner: ownerOf(ports.team), ports, environment }, c.req.param("version").slice(1));
  await c.var.audit.begin(ports);
  unwrap(await ports.registry.deletePublished({ name, version, now: ports.now() }));
  return c.json({ message: `${shownName(ports, name)}@${version} is deleted. ${STAYS}` });
});

const STAYS = "Runs that were made with it stay, and can be resumed for 30 days.";
const shownName = ({ team }: AppPorts, name: string): string => publishedId({ owner: ownerOf(team), name });

/** Flat, and under `data`: clients look in both places. */
const twice = <T extends object>(described: T): T & { readonly data: T } => ({ ...described, data: described });

const nameOf = (c: Context<AppContext>) => ({ owner: c.req.param("owner") ?? "", name: c.req.param("name") ?? "" });
const pinOf = ({ owner, environment: { name } }: FoundEnvironment, { version, digest }: { readonly version: string; readonly digest: string }) => ({
  ...{ owner, name, version, digest },
});

/** The service's own environment of the path. Throws `environment_not_found`. */
const ownOf = async (c: Context<AppContext>, version: string): Promise<EnvironmentFacts> =>
  unwrap(await findOwn(c.var.ports, `${publishedId(nameOf(c))}${version === "latest" ? "" : `@${version}`}`));

/** What the caller's team has linked under the name of the path, alone or with the team in front; null where there is none, or one of the service's own is called so. */
async function linkNamed(c: Context<AppContext>, version: string): Promise<Link | null> {
  const { ports } = c.var;
  const { owner, name } = nameOf(c);
  const reference = publishedId({ owner, name });
  if ((await findOwn(ports, reference)).ok) return null;
  const names = [reference, ...(owner === ownerOf(ports.team) ? [name] : [])].filter(isLinkName);
  const links = await Promise.all(names.map((each) => linkOf(ports, each)));
  return links.find((link) => link !== null && (version === "latest" || version === link.facts.version)) ?? null;
}

/** The published environment of the path; null where there is none that the caller may see. */
async function publishedOf(c: Context<AppContext>): Promise<FoundEnvironment | null> {
  const name = nameOf(c);
  // Nothing is published under these.
  return name.owner === OWNER && isBundled(name.name) ? null : findPublished(c, name);
}

async function sendFile(c: Context<AppContext>, file: PublishedFile, type: string): Promise<Response> {
  const published = await findPublished(c, nameOf(c));
  if (published === null) throw noEnvironment(nameOf(c));
  const pin = pinOf(published, versionOf(published, c.req.param("version")?.slice(1) ?? ""));
  const { name, version, digest } = pin;
  const body = await published.ports.store.read(publishedKey(name, version, digest, file));
  if (body === null) throw new EdgewiseError("not_found", `${shownPin(pin)} has none.`);
  return new Response(body, { headers: { "content-type": type, "cache-control": "private" } });
}

/** The ports of the team that the owner in the path is, which the caller works in. */
async function owned(c: Context<AppContext>): Promise<AppPorts> {
  const team = teamOfOwner(nameOf(c).owner);
  if (team === null) throw noEnvironment(nameOf(c));
  return c.var.ports.inTeam(await administered(c, team));
}

/** What the team has published under the name in the path. Throws `environment_not_found`. */
async function ours(c: Context<AppContext>, ports: AppPorts) {
  const published = await publishedBy(ports, nameOf(c));
  if (published === null || !sees(c.var.caller, ports.team, published.environment) || living(published.environment).length === 0)
    throw noEnvironment(nameOf(c));
  return published.environment;
}
