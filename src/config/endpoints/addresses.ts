/** What kind of place a URL names, judged by its text alone: names are resolved later, by whoever connects. */
import { isPrivateV4, isPrivateV6, isPublicV4, isPublicV6, numbersOfV4, numbersOfV6 } from "./ip-ranges.ts";
import { leadsAside } from "../telling-names.ts";

/** Null when `text` is no absolute URL. (`URL.parse` is younger than the oldest Node the command runs on.) */
export const parseUrl = (text: string): URL | null => (URL.canParse(text) ? new URL(text) : null);

/** Whether `host`, as `URL.hostname` gives it, is this machine itself. */
export function isLoopbackHost(host: string): boolean {
  return host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127\.\d+\.\d+\.\d+$/.test(host);
}

/** This machine, or one that only the local network reaches. */
export function isPrivateAddress(url: string): boolean {
  const host = hostOf(url);
  const v6 = numbersOfV6(host);
  if (v6 !== null) return isPrivateV6(v6);
  const v4 = numbersOfV4(host);
  return v4 === null ? isPrivateName(host) : isPrivateV4(v4);
}

/**
 * Whether the whole internet may be behind a URL: no private or reserved address, no name that only a local network knows. Where
 * a request names the place, anything else would let it call what only this service can reach (metadata servers above all).
 */
export function isPublicAddress(url: string): boolean {
  const host = hostOf(url);
  const v6 = numbersOfV6(host);
  if (v6 !== null) return isPublicV6(v6);
  const v4 = numbersOfV4(host);
  return v4 === null ? isPublicName(host) : isPublicV4(v4);
}

/** Lower case, without the dot that may end a name; "" when there is none. */
const hostOf = (url: string): string => (parseUrl(url)?.hostname ?? "").replace(/\.+$/, "");

const isPrivateName = (host: string): boolean => host === "localhost" || host.endsWith(".localhost") || host.endsWith(".local");

/** Zones that no public name server knows (RFC 6761, 6762, 8375, ICANN's `internal`), and those of clusters and home routers. */
const LOCAL_ZONES = [
  "localhost",
  "local",
  "localdomain",
  "internal",
  "intranet",
  "private",
  "corp",
  "home",
  "lan",
  "home.arpa",
  "workgroup",
  "svc",
  "consul",
  "test",
  "invalid",
  "onion",
];

/** A public name has at least two parts. `metadata`, `metadata.google.internal` and `instance-data.ec2.internal` are none. */
const isPublicName = (host: string): boolean =>
  host.includes(".") && !LOCAL_ZONES.some((zone) => host === zone || host.endsWith(`.${zone}`)) && !leadsAside(host);
