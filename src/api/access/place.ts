import { isLoopbackHost, parseUrl } from "../../config/endpoints/addresses.ts";
import { numbersOfV6 } from "../../config/endpoints/ip-ranges.ts";
import { fail, ok, type Result } from "../../errors/result.ts";
import type { AppFacts } from "../app-ports.ts";

/** From where a request comes: which machine, and which page of a browser. */

/** The origin of this service's own pages, as the browser that asks has it. */
export function ownOrigin({ headers, url }: Request, local: boolean): string | undefined {
  const host = local ? headers.get("host") : null;
  return parseUrl(host ? `http://${host}` : url)?.origin;
}

/**
 * The local service answers whoever is on this machine, but no web page in its browser other than its own: `Host` must be a loopback name (a page's own name
 * can be made to resolve to 127.0.0.1), and what browsers say of the page that asks must name this service. Another port of this machine is another page:
 * whatever is developed or shown there is not the user.
 */
export function checkPlace(request: Request, { local }: AppFacts): Result<null> {
  if (!local) return ok(null);
  if (!hostsOf(request).every(isLoopbackHost))
    return fail("unauthorized", "The local service answers only this machine, by a loopback name.", "Use localhost or the loopback address in the URL.");
  if (isForAnotherPage(request))
    return fail(
      "unauthorized",
      "The local service takes no request that a page of another address sends.",
      "Open its own pages at /dashboard/, or ask from a program.",
    );
  return ok(null);
}

/** Address that a request came from, as the audit has it. */
export const addressOf = ({ headers }: Request, local: boolean): string => (local ? "this machine" : (headers.get("cf-connecting-ip") ?? "unknown"));

/** Who is counted as one where attempts are: an address, or the 64 bits of IPv6 that one connection has as a rule. */
export function placeOf(request: Request, local: boolean): string {
  const address = addressOf(request, local);
  const groups = address.includes(":") ? numbersOfV6(parseUrl(`http://[${address}]`)?.hostname ?? "") : null;
  return groups === null
    ? address
    : `${groups
        .slice(0, 4)
        .map((group) => group.toString(16))
        .join(":")}::/64`;
}

function hostsOf({ headers, url }: Request): readonly string[] {
  const host = headers.get("host");
  return [url, ...(host ? [`http://${host}`] : [])].map((each) => parseUrl(each)?.hostname ?? "");
}

/**
 * Whether a browser says that a page of another scheme, host or port asks. `Origin` stands in all that writes and in what a script may read;
 * `Sec-Fetch-Site` also in what a page only embeds. Programs send neither. A link that a person follows leads to a page, and tells its former one nothing.
 */
function isForAnotherPage(request: Request): boolean {
  const { headers, method } = request;
  const [origin, site] = ["origin", "sec-fetch-site"].map((name) => headers.get(name));
  if (origin !== null && origin !== ownOrigin(request, true)) return true;
  if (site === null || site === "same-origin" || site === "none") return false;
  const follows = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  return !(follows && (method === "GET" || method === "HEAD"));
}
