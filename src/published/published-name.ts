import { OWNER } from "../teams/caller.ts";
import { DEFAULT_TEAM, isTeam } from "../teams/team-name.ts";
import { isVersion, VERSION_RULE } from "./published-version.ts";

/** What published environments are called: `owner/name`, where the owner is a team, and `owner/name@version`. */

const NAME = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/;
/** Parts of the addresses of what an environment has (`/environmentshub/{environment}/secrets`). */
const RESERVED = ["secrets", "variables"];

export const NAME_RULE = `must be 1 to 64 of a-z, 0-9, - _ and ., with a letter or digit at both ends, and not ${RESERVED.join(" or ")}`;
export const isPublishedName = (text: string): boolean => NAME.test(text) && !text.includes("..") && !RESERVED.includes(text);

/** Visibility of an environment: for its team alone, or for every team of the service. */
export const VISIBILITIES = ["PRIVATE", "PUBLIC"] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/** The owner's name of what a team publishes: its own, and that of the bundled environments for the default team. */
export const ownerOf = (team: string): string => (team === DEFAULT_TEAM ? OWNER : team);

/** The team that an owner's name stands for, whether there is one or not; null for what is no name of one. */
export const teamOfOwner = (owner: string): string | null => (owner === OWNER ? DEFAULT_TEAM : isTeam(owner) ? owner : null);

/** Of one environment of the service. */
export interface PublishedName {
  readonly owner: string;
  readonly name: string;
}

export interface PublishedReference extends PublishedName {
  /** Null = the latest. */
  readonly version: string | null;
}

/** Id of an environment's runs, as `verifiers` calls one of somebody's: `acme/my-sums`. */
export const publishedId = ({ owner, name }: PublishedName): string => `${owner}/${name}`;

/** Stands in the place of `/` where an id is one part of an address. */
const JOINT = "~";
/** The same as one part of an address, which a creation takes as well: `acme~my-sums`. */
export const publishedSlug = ({ owner, name }: PublishedName): string => `${owner}${JOINT}${name}`;

/** `owner/name`, `owner~name`, either with `@version` or `@latest` behind; null for anything else, and for what nothing published can be called. */
export function publishedReference(text: string): PublishedReference | null {
  const [path = "", version = "latest", ...rest] = text.split("@");
  const [owner = "", name = "", ...more] = path.split(path.includes(JOINT) ? JOINT : "/");
  if (rest.length > 0 || more.length > 0 || teamOfOwner(owner) === null || !isPublishedName(name)) return null;
  if (version === "latest") return { owner, name, version: null };
  return isVersion(version) ? { owner, name, version } : null;
}

/** What is told of a reference with an owner in front, which means a published one, whose version can be none; null of any other. */
export function versionHint(reference: string): string | null {
  const [path = "", version = "latest"] = reference.split("@");
  return path.includes("/") && version !== "latest" && !isVersion(version) ? `The version of a published environment ${VERSION_RULE}.` : null;
}

/** `acme/my-sums@1.2.0`, as people are told of one. */
export const shownPin = ({ version, ...name }: PublishedName & { readonly version: string }): string => `${publishedId(name)}@${version}`;
