import { blotter, mask } from "../errors/masking.ts";

const SECRET_HEADER = /auth|key|token|secret|cookie/i;

/** Characters kept of what a provider says: enough for its reason, not for a page of HTML or an echoed prompt. */
const MAX_PROVIDER_TEXT = 500;

/** What a loopback server gets that needs no key; it is no secret. */
const NO_KEY = "EMPTY";

/** Blots out the secrets of an endpoint, and whatever else this process holds. */
export function endpointBlotter(apiKey: string, headers: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value, value.replace(/^\w+ /, "")] : []));
  if (apiKey !== NO_KEY) secrets.push(apiKey, encodeURIComponent(apiKey));
  const blot = blotter(secrets);
  return (text) => mask(blot(text));
}

/** The same, and shortens: what is left may stand in a message, a row or a log. Given before anything is cut off, which might leave half a key. */
export function scrubber(apiKey: string, headers: Readonly<Record<string, string>>): (text: string) => string {
  const blot = endpointBlotter(apiKey, headers);
  return (text) => {
    const clean = blot(text);
    return clean.length > MAX_PROVIDER_TEXT ? `${clean.slice(0, MAX_PROVIDER_TEXT)}…` : clean;
  };
}

/** A URL as it may be shown: without user, password, query and fragment. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return text.slice(0, 200);
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}
