import { parseUrl } from "../config/endpoints/addresses.ts";
import { PROVIDERS, providerOfKey } from "../config/endpoints/providers.ts";
import { type EndpointKey, type KeySource, resolveKey } from "../config/endpoints/secrets.ts";
import { EdgewiseError, fail, ok, type Result } from "../errors/result.ts";
import { open } from "./envelope.ts";
import type { MasterKeys } from "./master-keys.ts";
import { type OpenSecret, type SealedSecret, SOURCES } from "./sealed-secret.ts";

/** What a run asks of its team's secrets. */
export interface SecretNeeds {
  /** What the environment declares among its `keys`. */
  readonly declared: readonly string[];
  /** Variables of the keys of the models under evaluation: no environment gets these. */
  readonly modelKeys: readonly string[];
}

/**
 * The secrets of one run, opened: which of several of one name counts (the run's, the environment's, a linked one, one of the team's), who gets
 * its value, and where it may be sent. Lives in memory only, and no longer than what asked for it.
 */
export class RunSecrets {
  readonly #byName: ReadonlyMap<string, OpenSecret>;
  readonly #needs: SecretNeeds;

  constructor(all: readonly OpenSecret[], needs: SecretNeeds) {
    const byName = new Map<string, OpenSecret>();
    for (const from of SOURCES) for (const secret of all) if (secret.from === from && !byName.has(secret.name)) byName.set(secret.name, secret);
    this.#byName = byName;
    this.#needs = needs;
  }

  static readonly NONE = new RunSecrets([], { declared: [], modelKeys: [] });

  /** Ascending. */
  get names(): readonly string[] {
    return [...this.#byName.keys()].sort();
  }
  /** What may stand in nothing that is written. */
  get values(): readonly string[] {
    return [...this.#byName.values()].map(({ value }) => value);
  }
  has(name: string): boolean {
    return this.#byName.has(name);
  }

  /** What the environment gets: what is the run's, its own or linked to it, and what it declares. Nothing that is bound to hosts. */
  get given(): Readonly<Record<string, string>> {
    const { declared, modelKeys } = this.#needs;
    const theirs = [...this.#byName.values()].filter(
      ({ name, from, hosts }) => hosts.length === 0 && !modelKeys.includes(name) && (from !== "global" || declared.includes(name)),
    );
    return Object.fromEntries(theirs.map(({ name, value }) => [name, value]));
  }

  /** Why a declared key cannot be given; null when it can, or is no secret of the team. */
  withheld(name: string): string | null {
    const hosts = this.#byName.get(name)?.hosts ?? [];
    if (hosts.length === 0) return null;
    return `${name} is a secret for ${hosts.join(", ")} alone, and its value goes to no environment; give the environment one of its own`;
  }

  /** Why the secret of this name may not be sent to `baseUrl` as the key of a model; null when it may, undefined when there is none. */
  placeProblem(name: string, baseUrl: string): string | null | undefined {
    const secret = this.#byName.get(name);
    // What an environment has of its own says nothing of where the model is.
    if (secret === undefined || secret.from === "environment") return undefined;
    if (secret.from === "run") return null;
    const host = parseUrl(baseUrl)?.hostname;
    // A model that is called without the network has a name there, and gets no key.
    if (host === undefined) return null;
    if (secret.hosts.length > 0) return secret.hosts.includes(host) ? null : `${name} is a secret for ${secret.hosts.join(", ")} and is not sent to ${host}`;
    const provider = providerOfKey(name);
    const home = provider === null ? null : parseUrl(PROVIDERS[provider].base_url)?.hostname;
    if (home === host) return null;
    const owner = home === null || home === undefined ? "is bound to no host" : `holds the key of ${home}`;
    return `${name} is a secret that ${owner}, and is not sent to ${host}; create it with its hosts: npx edgewise secret create ${name} --host ${host}`;
  }

  /** The key for one endpoint, as `resolveKey`; null where no secret of the team has the name. Fails with `missing_key` for a place that it does not belong to. */
  keyOf(source: KeySource, name: string, baseUrl: string): Result<EndpointKey> | null {
    const problem = this.placeProblem(name, baseUrl);
    if (problem === undefined) return null;
    return problem === null ? resolveKey(source, name, baseUrl, (wanted) => this.#valueOf(wanted)) : fail("missing_key", `${problem}.`);
  }

  /** The key for a model that the environment calls itself: also what it has the value of, wherever it calls. */
  judgeKeyOf(source: KeySource, name: string, baseUrl: string): Result<EndpointKey> | null {
    if (!Object.hasOwn(this.given, name)) return this.keyOf(source, name, baseUrl);
    return resolveKey(source, name, baseUrl, (wanted) => this.#valueOf(wanted));
  }

  /** The key of a provider of sandboxes on `host`; null where no secret has the name. Throws `missing_key` for one that is for other hosts alone. */
  sandboxKey(name: string, host: string): string | null {
    const secret = this.#byName.get(name);
    if (secret === undefined) return null;
    if (secret.hosts.length > 0 && !secret.hosts.includes(host))
      throw new EdgewiseError("missing_key", `${name} is a secret for ${secret.hosts.join(", ")}, and is not sent to ${host}`);
    return this.#valueOf(name);
  }

  #valueOf(name: string): string | null {
    return this.#byName.get(name)?.value.trim() ?? null;
  }
}

/** Opens what a Registry gave. Fails for the first that cannot be opened, by its name. */
export async function openSecrets(keys: MasterKeys, team: string, sealed: readonly SealedSecret[]): Promise<Result<readonly OpenSecret[]>> {
  const all: OpenSecret[] = [];
  for (const { sealed: text, ...secret } of sealed) {
    const value = await open(keys, { team, id: secret.id }, text, secret.name);
    if (!value.ok) return value;
    all.push({ ...secret, value: value.value });
  }
  return ok(all);
}

/** Texts in a run's arguments that may name a secret: an environment is told the variable of its judge's key there. */
const NAMED = /"([A-Z][A-Z0-9_]{0,127})"/g;
const MAX_NAMED = 64;
export const namesIn = (...values: readonly unknown[]): string[] =>
  [...new Set([...(JSON.stringify(values) ?? "").matchAll(NAMED)].map(([, name = ""]) => name))].slice(0, MAX_NAMED);
