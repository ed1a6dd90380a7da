import { isPublicAddress, parseUrl } from "./addresses.ts";
import { type KeyPlaces, keyPlaceProblem, keyVarProblem } from "./key-vars.ts";

/** What a deployed service does not call at a request's word; null for what it does, and for the names that stand for no address. */
export function addressProblem(text: string): string | null {
  const url = parseUrl(text);
  if (url === null) return null;
  if (url.protocol !== "https:") return "must be an https URL: keys are not sent in the clear";
  return isPublicAddress(text)
    ? null
    : "must be a public address: no private, link-local, loopback, metadata or reserved one, no name of a local network, and no name that leads to one of these (127.0.0.1.nip.io)";
}

/**
 * Why a service does not call a model that an environment names (a judge), with the key it names; null when it does. An
 * environment's arguments come from requests, so what holds for a request's own endpoint holds here.
 */
export function calledPlaceProblem(places: KeyPlaces, { base_url, api_key_var }: { readonly base_url: string; readonly api_key_var: string }): string | null {
  const name = keyVarProblem(places.keyVars, api_key_var);
  if (name !== null) return `${api_key_var} ${name}`;
  return calledAddressProblem(places, base_url) ?? keyPlaceProblem(places, api_key_var, base_url);
}

/** The same of the address alone. */
export function calledAddressProblem({ local, baseUrl }: Pick<KeyPlaces, "local" | "baseUrl">, base_url: string): string | null {
  const problem = local || base_url === baseUrl ? null : addressProblem(base_url);
  return problem === null ? null : `${base_url} ${problem}`;
}
