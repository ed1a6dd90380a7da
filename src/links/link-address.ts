import { addressProblem } from "../config/endpoints/called-place.ts";
import { isLoopbackHost, isPrivateAddress, parseUrl } from "../config/endpoints/addresses.ts";

/** Base URL of an environment server as links keep it: without the slash at its end. */
export const linkAddress = (url: string): string => url.replace(/\/+$/, "");

/**
 * Why a service does not call an environment's server at this address; null when it does. Deployed it calls what the internet reaches, by https alone; on one's own machine
 * also what is there, or in the same network.
 */
export function linkAddressProblem(text: string, local: boolean): string | null {
  const url = parseUrl(text);
  if (url === null || (url.protocol !== "https:" && url.protocol !== "http:")) return "must be an http or https URL";
  if (url.username !== "" || url.password !== "") return "must have no user name and password: the token goes into the field `token`";
  if (url.search !== "" || url.hash !== "") return "must have no query and no fragment";
  if (!local) return addressProblem(text);
  const isNear = isLoopbackHost(url.hostname) || isPrivateAddress(text);
  return url.protocol === "https:" || isNear ? null : "must be an https URL, or one of this machine or network: the token is not sent in the clear";
}
