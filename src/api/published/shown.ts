import type { PublishedVersion } from "../../../durable-objects/registry/published/published-control.ts";
import { canonicalJson } from "../../config/canonical-json.ts";
import { sha256Hex } from "../../config/sha256.ts";
import type { Manifest } from "../../published/manifest.ts";
import type { Link } from "../../links/link.ts";
import { linkSlug } from "../../links/link-name.ts";
import { ownerOf, publishedSlug } from "../../published/published-name.ts";
import { compareVersions, latestOf } from "../../published/published-version.ts";
import { OWNER } from "../../teams/caller.ts";
import type { EnvironmentFacts } from "../creation/resolve.ts";
import { type FoundEnvironment, living } from "./find-published.ts";

/** Environments as answers show them: those of the service itself, and published ones. */

const iso = (at: number): string => new Date(at).toISOString();

/** Hex sha256 over what the code of an environment of the service was made from. */
const contentHash = ({ id, version, source }: EnvironmentFacts): Promise<string> => sha256Hex(canonicalJson({ id, version, source }));

const versionFacts = ({ version, digest, created_at }: PublishedVersion) => ({ semantic_version: version, content_hash: digest, created_at: iso(created_at) });
const ownFacts = async (facts: EnvironmentFacts) => ({ semantic_version: facts.version, content_hash: await contentHash(facts), created_at: null });

const latest = ({ environment }: FoundEnvironment): PublishedVersion => latestOf(living(environment)) as PublishedVersion;

/** One version of a published environment, or the one that the service has of its own. */
export function shownVersion(
  found: FoundEnvironment,
  version: PublishedVersion,
  { facts, module, source_map, readme = null, made_with, created_by }: Manifest,
) {
  const { args, defaults, keys, hosts = [], description } = facts;
  return {
    ...heading(found),
    description,
    version: versionFacts(version),
    metadata: { description, args, defaults, keys, hosts, module, source_map, readme, made_with, created_by },
  };
}
export async function shownOwn(facts: EnvironmentFacts) {
  const version = await ownFacts(facts);
  const { id, description, describedArgs, defaults, keys = [], hosts = [] } = facts;
  // The bare name: safe in addresses, short, and what a creation takes back.
  return {
    ...{ id, name: id, owner: { name: OWNER }, description, visibility: "PUBLIC" as const, latest_version: version, version },
    metadata: { description, args: describedArgs?.() ?? null, defaults, keys, hosts },
  };
}
/** What a team has linked under a name, which no owner stands before. */
export function shownLinked(team: string, { name, facts, linked_at }: Link) {
  const { args, defaults, keys, hosts = [], description, source: content_hash } = facts;
  const version = { semantic_version: facts.version, content_hash, created_at: iso(linked_at) };
  return {
    ...{ id: linkSlug(name), name, owner: { name: ownerOf(team) }, description, visibility: "PRIVATE" as const, latest_version: version, version },
    metadata: { description, args, defaults, keys, hosts },
  };
}

const heading = (found: FoundEnvironment) => {
  const { owner, environment } = found;
  const { name, visibility } = environment;
  return { id: publishedSlug({ owner, name }), name, owner: { name: owner }, visibility, latest_version: versionFacts(latest(found)) };
};

export function shownStatus(found: FoundEnvironment) {
  const { id: _, ...status } = heading(found);
  return { ...status, description: latest(found).description };
}
export async function ownStatus(facts: EnvironmentFacts) {
  const { id: _, version: __, metadata: ___, ...status } = await shownOwn(facts);
  return status;
}

/** The latest first, the others by their precedence. */
export function shownVersions(found: FoundEnvironment) {
  const first = latest(found);
  const others = living(found.environment).filter((each) => each !== first);
  return [first, ...others.sort((a, b) => compareVersions(b.version, a.version))].map((each) => ({
    ...{ version: each.version, created_at: iso(each.created_at), created_by: each.created_by, sha256: each.digest, size: 1 as const, bytes: each.bytes },
    latest: each === first,
  }));
}
export async function ownVersions(facts: EnvironmentFacts) {
  const { semantic_version: version, content_hash: sha256, created_at } = await ownFacts(facts);
  return [{ version, created_at, created_by: null, sha256, size: 1 as const, bytes: null, latest: true }];
}

/** A row of the list. */
export interface Listed {
  readonly id: string;
  readonly name: string;
  readonly owner: { readonly name: string };
  readonly description: string;
  readonly visibility: "PUBLIC" | "PRIVATE";
  readonly latest_version: string;
  readonly stars: 0;
  readonly tags: readonly string[];
  readonly created_at: string | null;
  readonly updated_at: string | null;
  /** The service's own. */
  readonly bundled: boolean;
}

export function listed(found: FoundEnvironment): Listed {
  const { created_at, updated_at } = found.environment;
  const { latest_version, ...row } = heading(found);
  return {
    ...{ ...row, description: latest(found).description, latest_version: latest_version.semantic_version, stars: 0, tags: [] },
    ...{ created_at: iso(created_at), updated_at: iso(updated_at), bundled: false },
  };
}
export const listedOwn = ({ id, description, version }: EnvironmentFacts): Listed => ({
  ...{ id, name: id, owner: { name: OWNER }, description, visibility: "PUBLIC", latest_version: version, stars: 0, tags: [] },
  ...{ created_at: null, updated_at: null, bundled: true },
});
