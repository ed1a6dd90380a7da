/** What to do about a refusal or a failed run, as far as the command line knows more than the service. */
import { parseUrl } from "../../config/endpoints/addresses.ts";
import { EMBEDDED_BASE_URL, PROVIDERS, providerOfHost, providerOfKey } from "../../config/endpoints/providers.ts";
import { CliError, usageError } from "../terminal/cli-error.ts";
import type { GivenOptions } from "../command-line/flags.ts";
import { FOREIGN, ServiceError, ServiceUnreachable } from "../connection/http-client.ts";
import { publishedReference, versionHint } from "../../published/published-name.ts";
import { nearest } from "../../config/nearest.ts";
import type { Service } from "./service.ts";
import { accessRefused, foreignAnswer, internalError, serviceLost, storageError } from "./service-errors.ts";

export interface ExplainContext {
  readonly service: Service;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What was to be run; null for commands that run nothing. */
  readonly wish: Wish | null;
}

interface Wish {
  readonly envId: string;
  readonly given: GivenOptions;
  /** Environments that come with this version. */
  readonly environments: readonly string[];
  /** What to type where the service has none of that name, and there is one here. */
  readonly linkHints?: readonly string[];
}

/** Turns what the service said, or its silence, into what is printed. Other errors come back as they are. */
export function explain(error: unknown, { service, env, wish }: ExplainContext): unknown {
  if (error instanceof ServiceUnreachable) return serviceLost(service, error);
  if (!(error instanceof ServiceError)) return error;
  const own = error.hint === null ? [] : [error.hint];
  switch (error.code) {
    case FOREIGN:
      return foreignAnswer(service, error);
    case "unauthorized":
      return accessRefused(service, error, env.EDGEWISE_TOKEN || null);
    case "environment_not_found":
      // Another service may have others than this installation, and of published ones it knows more.
      return usageError(
        error.message.replace(/\.$/, ""),
        ...(wish?.linkHints ?? []),
        ...(wish === null || service.role === "remote" || publishedReference(wish.envId) !== null ? own : environmentHints(wish)),
      );
    case "missing_key":
      return new CliError(error.message, { hints: [...own, ...keyHints({ message: error.message, service, env, given: wish?.given ?? {} })] });
    case "internal":
      return internalError(service, error);
    case "storage_unavailable":
      return storageError(service, error);
    case "invalid_request":
      return usageError(error.message, ...own);
    default:
      return new CliError(error.message, { hints: own });
  }
}

/** `reference`: as it was asked for, with a version behind it or none. */
export function environmentHints({
  envId,
  environments,
  reference = envId,
}: Pick<Wish, "envId" | "environments"> & { readonly reference?: string }): readonly string[] {
  const version = versionHint(reference);
  if (version !== null) return [version];
  const close = nearest(envId, environments);
  const available = environments.length === 0 ? [] : [`Available: ${environments.join(", ")}.`];
  return [...(close === null ? [] : [`Did you mean ${close}?`]), ...available];
}

/** Which other keys are there and how to use each, and what needs none. Names only; values are nobody's business. */
export function keyHints({
  message,
  service,
  given,
  env,
}: Pick<ExplainContext, "service" | "env"> & Pick<Wish, "given"> & { readonly message: string }): readonly string[] {
  const wanted = given.api_key_var ?? PROVIDERS.prime.api_key_var;
  // A key that the environment asks for is not the model's: another model needs it as well.
  if (!message.includes(wanted)) return [];
  const hints: string[] = [];
  if (service.role === "client" && env[wanted]) {
    const { pid, command } = service.owner ?? { pid: 0, command: "" };
    hints.push(`It is set here, but the service of this folder runs in another terminal without it (process ${pid}, ${command}): end that first.`);
  }
  hints.push(...unnamedKey(given));
  if (service.role === "remote") return hints;
  const others = Object.keys(env)
    .filter((name) => name.endsWith("_API_KEY") && name !== wanted && env[name])
    .sort();
  for (const name of others) {
    const provider = providerOfKey(name);
    hints.push(`${name} is set: add ${provider === null ? `-b <URL of its endpoint> -k ${name}` : `--provider ${provider}`} -m <a model of that endpoint>`);
  }
  hints.push(`No key is needed for the small model that comes along: add --provider ${EMBEDDED_BASE_URL}`);
  return hints;
}

/** Of an endpoint that the command line names, without the variable of its key: then `PRIME_API_KEY` is taken, as by `prime eval run`. */
function unnamedKey({ api_base_url, api_key_var }: GivenOptions): readonly string[] {
  const host = api_base_url === undefined || api_key_var !== undefined ? null : (parseUrl(api_base_url)?.hostname ?? null);
  if (host === null) return [];
  const provider = providerOfHost(host);
  if (provider === "prime") return [];
  const own = provider === null ? "NAME" : PROVIDERS[provider].api_key_var;
  return [`-b names the endpoint only; -k names the variable that holds its key: add -k ${own}`];
}
