import { isPrivateAddress, parseUrl } from "./addresses.ts";
import { isLike } from "../wildcard.ts";
import { EMBEDDED_BASE_URL, PROVIDER_NAMES, PROVIDERS, providerOfKey } from "./providers.ts";

/**
 * Which keys of the service a request may use, and where they may go. A request names both the variable and the address, so
 * without a rule whoever may start a run could have any key sent to a server of their own.
 */

/** Of `KEY_VARS`, when a deployment sets none. */
export const DEFAULT_KEY_VARS = "*_API_KEY";

/** Whether a URL leads to a known provider, which is nobody's trap. */
export const isProviderAddress = (url: string): boolean => PROVIDER_HOSTS.includes(hostOf(url));

/** One entry of `KEY_VARS`: `NAME` or `NAME@host`, with `*` for any characters. */
interface Entry {
  readonly name: string;
  /** In lower case, as addresses have it. Null: wherever the key belongs. */
  readonly host: string | null;
}

function entriesOf(keyVars: string): readonly Entry[] {
  const texts = keyVars
    .split(",")
    .map((text) => text.trim())
    .filter((text) => text !== "");
  return texts.map((text) => {
    const [name = "", host] = text.split("@");
    return { name, host: host?.toLowerCase() ?? null };
  });
}

/** Why a request may not name this variable; null when it may. `isKeyVariable` is checked before, whatever `KEY_VARS` says. */
export function keyVarProblem(keyVars: string, name: string): string | null {
  if (entriesOf(keyVars).some((entry) => isLike(entry.name, name))) return null;
  return `is no variable that requests may use: KEY_VARS of this service allows ${keyVars}`;
}

export interface KeyPlaces {
  readonly keyVars: string;
  /** The service's own endpoint, and the variable of its key. */
  readonly baseUrl: string;
  readonly keyVar: string;
  /** The local service: its own machine and network are the user's. */
  readonly local: boolean;
}

/**
 * Why the key in `name` may not be sent to `baseUrl`; null when it may. A known provider's key goes to that provider, the service's own to its
 * endpoint, and a key that neither claims to one of these hosts: every other host is one that `KEY_VARS` binds the key to.
 */
export function keyPlaceProblem({ keyVars, baseUrl: own, keyVar, local }: KeyPlaces, name: string, baseUrl: string): string | null {
  const host = parseUrl(baseUrl)?.hostname;
  // A model that is called without the network has a name there, and gets no key.
  if (host === undefined || (local && isPrivateAddress(baseUrl))) return null;
  const entries = entriesOf(keyVars).filter((entry) => isLike(entry.name, name));
  if (entries.some((entry) => entry.host !== null && isLike(entry.host, host))) return null;
  const provider = providerOfKey(name);
  const homes = [...(name === keyVar ? [hostOf(own)] : []), ...(provider === null ? [] : [hostOf(PROVIDERS[provider].base_url)])];
  const bound = entries.length > 0 && entries.every((entry) => entry.host !== null);
  const known = homes.length > 0 ? homes : bound ? [] : [hostOf(own), ...PROVIDER_HOSTS];
  if (known.includes(host)) return null;
  const owner =
    homes.length > 0 ? `holds the key of ${[...new Set(homes)].join(" and ")}` : bound ? "is bound to other hosts by KEY_VARS" : "is bound to no host";
  return `${name} ${owner} and is not sent to ${host}; name the variable of that host's key, or allow ${name}@${host} in KEY_VARS of this service`;
}

const PROVIDER_HOSTS = PROVIDER_NAMES.map((name) => PROVIDERS[name].base_url)
  .filter((address) => address !== EMBEDDED_BASE_URL && !isPrivateAddress(address))
  .map((address) => hostOf(address));

function hostOf(url: string): string {
  return parseUrl(url)?.hostname ?? url;
}
