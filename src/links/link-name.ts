import { OWNER } from "../teams/caller.ts";

/** What links are called: as environments are, `name` or `owner/name`. */

const PART = "[A-Za-z0-9][\\w.-]{0,99}";
const NAME = new RegExp(`^${PART}(?:/${PART})?$`);

export const LINK_NAME_RULE = `must be the id of an environment: letters, digits and . _ - (my-env), with an owner's name and / before it or none, and not ${OWNER}/…`;
/** The owner of the bundled environments has no links: with it in front a bundled one is meant. */
export const isLinkName = (text: string): boolean => NAME.test(text) && !text.startsWith(`${OWNER}/`);

/** Stands in the place of `/` where a name is one part of an address, as in those of published environments. */
const JOINT = "~";
export const linkSlug = (name: string): string => name.replace("/", JOINT);
export const nameOfSlug = (slug: string): string => slug.replace(JOINT, "/");

/** What a command or a request may mean by a reference: a link of this name, of this version if it says one (null = any). Null for what no link is called. */
export function linkReference(text: string): { readonly name: string; readonly version: string | null } | null {
  const [path = "", version = "latest", ...rest] = text.split("@");
  const name = nameOfSlug(path);
  if (rest.length > 0 || !isLinkName(name)) return null;
  return { name, version: version === "latest" ? null : version };
}
