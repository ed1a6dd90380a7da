/**
 * The hosts that the code of an environment may send requests to from an isolate of its own: those that it declares, and that whoever runs the service allows.
 */
import { isLike } from "../wildcard.ts";
import { parseUrl } from "./addresses.ts";
import { addressProblem } from "./called-place.ts";
import { numbersOfV4 } from "./ip-ranges.ts";

const LABEL = "[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?";
const HOST = new RegExp(`^${LABEL}(?:\\.${LABEL})*(?::[1-9]\\d{0,4})?$`);
/** Hosts of one environment. */
const MOST_HOSTS = 20;

/** Why these cannot be the hosts that an environment declares; null when they can. */
export function declaredHostsProblem(hosts: readonly string[]): string | null {
  if (hosts.length > MOST_HOSTS) return `are ${hosts.length}; at most ${MOST_HOSTS} can be declared`;
  const wrong = hosts.find((host) => !isHost(host));
  return wrong === undefined
    ? null
    : `has ${JSON.stringify(wrong)}: write the name of a host as it stands in addresses, in small letters ("api.example.com", with a port "api.example.com:8443"); no address, path, IP address or pattern`;
}

function isHost(host: string): boolean {
  const [name = "", port = "443"] = host.split(":");
  return host.length <= 253 && HOST.test(host) && numbersOfV4(name) === null && !/(^|\.)\d+$/.test(name) && Number(port) < 65_536;
}

/** What an environment's requests are held against. */
export interface HostRules {
  /** Hosts that the environment declares. */
  readonly declared: readonly string[];
  /** What the operator allows: the variable `ENVIRONMENT_HOSTS`, patterns with `*` between commas; null = it is not set. */
  readonly allowed: string | null;
  /** On the machine of whoever runs it: every host that the environment declares is allowed, unless the variable says which, private ones and plain http too. */
  readonly local: boolean;
}

/** Declared hosts that this service does not let environments call, with why; null when it lets them call all. */
export function hostsProblem({ declared, allowed, local }: HostRules): string | null {
  const patterns = (allowed ?? (local ? "*" : "")).split(",").map((pattern) => pattern.trim());
  const refused = declared.filter((host) => !patterns.some((pattern) => pattern !== "" && isLike(pattern, host)));
  if (refused.length > 0)
    return `asks for ${refused.join(", ")}, and this service does not let environments call that: whoever runs it allows hosts in ENVIRONMENT_HOSTS`;
  const [hidden] = local ? [] : declared.filter((host) => addressProblem(`https://${host}/`) !== null);
  return hidden === undefined ? null : `asks for ${hidden}, which ${addressProblem(`https://${hidden}/`)}`;
}

/** Why code that declares these hosts may not send this request; null when it may. Each step of a redirect is a request. */
export function requestProblem(url: string, { declared, local }: Pick<HostRules, "declared" | "local">): string | null {
  const parsed = parseUrl(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) return "only http and https requests can be made";
  if (!declared.includes(parsed.host)) return `${parsed.host} is none of the hosts that the environment declares (${declared.join(", ")})`;
  const problem = local ? null : addressProblem(url);
  return problem === null ? null : `${parsed.host} ${problem}`;
}
