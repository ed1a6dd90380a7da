import { parseUrl } from "../config/endpoints/addresses.ts";
import { sha256Hex } from "../config/sha256.ts";

/** Changes when the same place is to have another Limiter: what was found by those of before is found anew. */
const KIND = "edgewise limiter 1";

/** Hexadecimal digits of the digest: 128 bits, which nobody guesses or meets twice. */
const NAME_LENGTH = 32;

/**
 * A base URL without what makes no difference to who is called: case of the host, the port that it has anyway, slashes at the end, query and fragment.
 * What is no URL (`embedded`, `workers-ai`) is as it is. User and password are left out: it may be shown.
 */
export function placeUrl(base_url: string): string {
  const url = parseUrl(base_url);
  return url === null ? base_url : `${url.protocol}//${url.host}${url.pathname}`.replace(/\/+$/, "");
}

/**
 * Name of the Limiter of a place: one for each account that is called there, whoever calls it and whatever variable or secret the key is in. It tells
 * nothing of the key. `key`: its value; `model_class`: `modelClass`.
 */
export async function limiterName({
  base_url,
  key,
  model_class,
}: {
  readonly base_url: string;
  readonly key: string;
  readonly model_class: string;
}): Promise<string> {
  const { username = "", password = "" } = parseUrl(base_url) ?? {};
  const account = username === "" && password === "" ? key : `${username}:${password} ${key}`;
  const text = [KIND, placeUrl(base_url), account, model_class].join("\0");
  return (await sha256Hex(text)).slice(0, NAME_LENGTH);
}
