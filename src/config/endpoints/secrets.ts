import { holdKey } from "../../errors/masking.ts";
import { fail, ok, type Result } from "../../errors/result.ts";
import { isPrivateAddress, parseUrl } from "./addresses.ts";
import { EMBEDDED_BASE_URL, isProviderHost, WORKERS_AI_BASE_URL } from "./providers.ts";

/** What may hold keys: the Worker's environment (deployed: its secrets), and `LOCAL_SECRETS`, which only the local service passes. */
export interface KeySource {
  /** Set by the local service only. */
  readonly LOCAL?: string | undefined;
  readonly LOCAL_SECRETS?: Readonly<Record<string, string>> | undefined;
  /** The embedded model; in the local service only. */
  readonly EMBEDDED?: object | undefined;
  /** Cloudflare's own models; deployed only, where the binding is set. */
  readonly AI?: object | undefined;
}

export interface EndpointKey {
  readonly key: string;
  /** Headers that belong to the key (the team of a Prime key). */
  readonly headers: Readonly<Record<string, string>>;
}

/** What verifiers sends when there is no key; local model servers accept anything. */
const NO_KEY = "EMPTY";

const NO_AI_BINDING =
  'Deploy with `[ai]` and `binding = "AI"` in wrangler.toml. Over HTTP these models answer at https://api.cloudflare.com/client/v4/accounts/ACCOUNT_ID/ai/v1, with a key.';

/** The service's own settings and bindings are in the same environment as the keys and must not be sent to a model endpoint. */
const OWN =
  /^(EDGEWISE_|CLOUDFLARE_|CF_|ROLLOUTS_|LOCAL$|LOCAL_SECRETS$|BOOT_ID$|COMMAND_SECRET$|PARENT$|EMBEDDED$|NETWORK$|AI$|RUN$|DISPATCHER$|REGISTRY$|BUCKET$)/;

/** Whether a run may name `name` as the variable that holds its key. */
export const isKeyVariable = (name: string): boolean => /^[A-Z][A-Z0-9_]{0,127}$/.test(name) && !OWN.test(name);

/**
 * The key for one endpoint. A missing one is `missing_key`, except at loopback and private addresses. `name` is checked again
 * here, since it may come from a stored config. The embedded model has no key, whatever is named; where it is not, it is
 * `invalid_request`, and so is a provider's address that begins with `http://`. `lookUp`: where the key is, when it is none of the source's.
 */
export function resolveKey(
  source: KeySource,
  name: string,
  baseUrl: string,
  lookUp: (name: string) => string | null = (wanted) => lookUpSecret(source, wanted),
): Result<EndpointKey> {
  if (baseUrl === EMBEDDED_BASE_URL) {
    if (source.EMBEDDED !== undefined) return ok({ key: NO_KEY, headers: {} });
    return fail(
      "invalid_request",
      "The embedded model is part of the local service only; this one has none.",
      "Name another endpoint: its base URL and key variable.",
    );
  }
  if (baseUrl === WORKERS_AI_BASE_URL) {
    if (source.AI !== undefined) return ok({ key: NO_KEY, headers: {} });
    return fail("invalid_request", "The client type workers_ai calls models through an AI binding, and this service has none.", NO_AI_BINDING);
  }
  if (!isKeyVariable(name)) return fail("missing_key", `${name} cannot be the name of a key variable.`, "Name a variable of capitals, digits and _.");
  const url = parseUrl(baseUrl);
  if (url?.protocol === "http:" && isProviderHost(url.hostname)) {
    const secure = baseUrl.trim().replace(/^http:/i, "https:");
    return fail("invalid_request", `${baseUrl} would carry the key in ${name} to ${url.host} in clear text; it is not sent.`, `Name ${secure} (-b).`);
  }
  const key = lookUp(name);
  if (key === null) {
    if (isPrivateAddress(baseUrl)) return ok({ key: NO_KEY, headers: {} });
    const local = source.LOCAL !== undefined;
    const hint = local ? `Type \`export ${name}=…\`, or write ${name}=… to .dev.vars, and start again.` : `Type \`wrangler secret put ${name}\`.`;
    return fail("missing_key", `${name} is not set, and ${hostOf(baseUrl)} asks for a key.`, hint);
  }
  // Not the value itself, nor where it goes wrong: errors are logged.
  if (!/^[\x21-\x7e]+$/.test(key)) return fail("missing_key", `The value of ${name} is not a key: it holds blanks or characters that no header can carry.`);
  const team = name === "PRIME_API_KEY" ? lookUp("PRIME_TEAM_ID") : null;
  const headers: EndpointKey["headers"] = team === null ? {} : { "X-Prime-Team-ID": team };
  return ok({ key, headers });
}

/** A secret by name; null when it is not set. Blank counts as unset, as for the `prime` client. From here on nothing that is written has it. */
export function lookUpSecret(source: KeySource, name: string): string | null {
  for (const holder of [source.LOCAL_SECRETS ?? {}, source] as readonly Readonly<Record<string, unknown>>[]) {
    const value = Object.hasOwn(holder, name) ? holder[name] : undefined;
    if (typeof value !== "string" || value.trim() === "") continue;
    const key = value.trim();
    holdKey(key);
    return key;
  }
  return null;
}

/** What is called so is a secret; the names of such variables, which settings hold, are none. */
const LOOKS_SECRET = /KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|_TEAM_ID$/;
const NO_SECRET = /_KEY_VAR$|^KEY_VARS$/;

/** The values of every secret of this host, and of the variables `names`, whatever these are called. */
export function secretValues(source: KeySource, names: readonly string[]): readonly string[] {
  const own = Object.entries(source).flatMap(([name, value]) => (typeof value === "string" && LOOKS_SECRET.test(name) && !NO_SECRET.test(name) ? [value] : []));
  return [...own, ...Object.values(source.LOCAL_SECRETS ?? {}), ...names.flatMap((name) => lookUpSecret(source, name) ?? [])];
}

const hostOf = (url: string): string => parseUrl(url)?.host ?? "the endpoint";
