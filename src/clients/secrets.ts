const SECRET_HEADER = /auth|key|token|secret|cookie/i;

/** Below this a "secret" is a word like any other, and blotting it out would garble the text. */
const MIN_SECRET = 4;

/** Characters kept of what a provider says: enough for its reason, not for a page of HTML or an echoed prompt. */
const MAX_PROVIDER_TEXT = 500;

/** What a loopback server gets that needs no key; it is no secret. */
const NO_KEY = "EMPTY";

/** Blots out the secrets of an endpoint and shortens: what is left may stand in a message, a row or a log. */
export function scrubber(apiKey: string, headers: Readonly<Record<string, string>>): (text: string) => string {
  const secrets = Object.entries(headers).flatMap(([name, value]) => (SECRET_HEADER.test(name) ? [value, value.replace(/^\w+ /, "")] : []));
  if (apiKey !== NO_KEY) secrets.push(apiKey, encodeURIComponent(apiKey));
  const blot = blotter(secrets);
  return (text) => {
    const clean = blot(text);
    return clean.length > MAX_PROVIDER_TEXT ? `${clean.slice(0, MAX_PROVIDER_TEXT)}…` : clean;
  };
}

/** Replaces each of `secrets`. */
export function blotter(secrets: readonly string[]): (text: string) => string {
  // Longest first: a secret that contains another must go as a whole.
  const hidden = [...new Set(secrets.map((secret) => secret.trim()))].filter((secret) => secret.length >= MIN_SECRET).sort((a, b) => b.length - a.length);
  return (text) => hidden.reduce((rest, secret) => rest.replaceAll(secret, "[secret]"), text);
}

/** A URL as it may be shown: without user, password, query and fragment. */
export function shownUrl(text: string): string {
  if (!URL.canParse(text)) return text.slice(0, 200);
  const url = new URL(text);
  return `${url.origin}${url.pathname}`;
}
