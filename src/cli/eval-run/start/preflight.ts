/**
 * A look at the model endpoint before a run of this machine begins, so that a wrong address, key or model is said in seconds and not
 * by hundreds of requests. It asks for the list of models, which costs nothing; where that does not settle it, for one short answer
 * in the way of the run. The key goes where the run would send it, and nowhere else.
 */
import { HttpClient } from "../../../clients/transport/http-client.ts";
import { createClient } from "../../../clients/create-client.ts";
import { shownUrl } from "../../../clients/secrets.ts";
import { OPTIONS } from "../../../config/options/options.ts";
import { EMBEDDED_BASE_URL, WORKERS_AI_BASE_URL } from "../../../config/endpoints/providers.ts";
import type { ClientType, JsonObject } from "../../../config/plan/run-config.ts";
import { resolveKey } from "../../../config/endpoints/secrets.ts";
import { type ErrorCode, ROLLOUT_ERRORS } from "../../../errors/codes.ts";
import { EdgewiseError } from "../../../errors/result.ts";
import { CliError, reasonOf, systemCode, tlsReason } from "../../terminal/cli-error.ts";
import { reachHost } from "./reach-host.ts";

/** For a connection, and for all that is asked over it; a server that only is slow is left to the run. */
const REACH_MS = 2_500;
const ASK_MS = 2_800;
/** Enough for routes that refuse less, too little to cost anything. */
const FEW_TOKENS = 16;
const RETRIES = 2;

/** What a run would meet again at once. Others may pass (a rate limit), or be about the short question alone. */
const ENDS: readonly ErrorCode[] = [
  "auth_failed",
  "payment_required",
  "insufficient_quota",
  "model_not_found",
  "region_refused",
  "web_page",
  "provider_error",
  "connection_failed",
  "connection_cut",
  "connect_timeout",
  "invalid_response",
  "malformed_response",
];

const ANYWAY = "--no-preflight begins all the same: a run that has no answer yet asks again for about twenty seconds.";

interface Place {
  readonly api_base_url: string;
  readonly api_key_var: string;
  readonly headers: Readonly<Record<string, string>>;
}

export class Preflight {
  readonly #secrets: Readonly<Record<string, string>>;
  readonly #known = new Map<string, Promise<CliError | null>>();

  /** `secrets`: what the local service is given, by name. */
  constructor(secrets: Readonly<Record<string, string>>) {
    this.#secrets = secrets;
  }

  /**
   * Of a creation's `eval_config`, or a run's own, and the model. Throws `CliError` when no place of it can serve the run; gives a
   * warning for each that cannot while others can. Evaluations of one command that share a place look once.
   */
  async check(config: JsonObject, model: string): Promise<readonly string[]> {
    const type = (config.api_client_type ?? OPTIONS.api_client_type.default) as ClientType;
    const places = placesOf(config);
    const problems = await Promise.all(places.map((place) => this.#look(place, model, type)));
    const found = problems.filter((problem) => problem !== null);
    const [first] = found;
    if (first !== undefined && found.length === places.length) throw first;
    return found.map(({ message }) => `${message}; its examples go to the other replicas`);
  }

  #look(place: Place, model: string, type: ClientType): Promise<CliError | null> {
    const name = JSON.stringify([place, model, type]);
    const known = this.#known.get(name) ?? this.#lookOnce(place, model, type);
    this.#known.set(name, known);
    return known;
  }

  async #lookOnce({ api_base_url, api_key_var, headers }: Place, model: string, type: ClientType): Promise<CliError | null> {
    if ([EMBEDDED_BASE_URL, WORKERS_AI_BASE_URL].includes(api_base_url) || !URL.canParse(api_base_url)) return null;
    const key = resolveKey({ LOCAL: "1", LOCAL_SECRETS: this.#secrets }, api_key_var, api_base_url);
    // The service refuses the creation, and says which key it wants.
    if (!key.ok) return null;
    try {
      await reachHost(api_base_url, REACH_MS);
    } catch (error) {
      return unreached(api_base_url, error);
    }
    const deadline = AbortSignal.timeout(ASK_MS);
    let network: unknown = null;
    const client = createClient(
      type,
      { base_url: api_base_url, api_key: key.value.key, api_key_var, headers: { ...headers, ...key.value.headers } },
      {
        maxRequestRetries: RETRIES,
        fetch: async (url, init) => {
          try {
            return await fetch(url, { ...init, signal: AbortSignal.any([deadline, ...(init?.signal ? [init.signal] : [])]) });
          } catch (error) {
            network = error;
            throw error;
          }
        },
      },
    );
    if (client instanceof HttpClient && (await client.offeredModels(deadline))?.includes(model)) return null;
    try {
      const prompt = [{ role: "user" as const, content: "Say OK." }];
      await client.getResponse({ prompt, model, sampling_args: { max_tokens: FEW_TOKENS }, tools: [], state: {}, signal: deadline });
      return null;
    } catch (error) {
      if (deadline.aborted || !(error instanceof EdgewiseError) || !ENDS.includes(error.code)) return null;
      if (network !== null && error.code.startsWith("connect")) return unspoken(api_base_url, network);
      const own = error.hint ?? (error.code === "provider_error" ? "look whether the server, or what stands before it, is well" : null);
      return new CliError(error.message, { hints: [...(own === null ? [] : [sentence(own)]), ...(isFatal(error.code) ? [] : [ANYWAY])], cause: error });
    }
  }
}

const sentence = (text: string): string => `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
/** A run would end at once too. */
const isFatal = (code: ErrorCode): boolean => (ROLLOUT_ERRORS as Record<string, { readonly fatal: boolean }>)[code]?.fatal === true;

/** Where the run would be called, with defaults written out. */
function placesOf(config: JsonObject): readonly Place[] {
  const own = {
    api_base_url: String(config.api_base_url ?? OPTIONS.api_base_url.default),
    api_key_var: String(config.api_key_var ?? OPTIONS.api_key_var.default),
    headers: headersOf(config.headers),
  };
  const replicas = (config.replicas ?? []) as readonly JsonObject[];
  if (replicas.length === 0) return [own];
  return replicas.map((replica) => ({
    api_base_url: String(replica.api_base_url ?? own.api_base_url),
    api_key_var: String(replica.api_key_var ?? own.api_key_var),
    headers: { ...headersOf(replica.headers), ...own.headers },
  }));
}

/** A table, or lines of `NAME: VALUE`, as runs show them. */
function headersOf(headers: unknown): Readonly<Record<string, string>> {
  if (!Array.isArray(headers)) return (headers ?? {}) as Readonly<Record<string, string>>;
  return Object.fromEntries(headers.map(String).map((line) => [line.slice(0, line.indexOf(":")).trim(), line.slice(line.indexOf(":") + 1).trim()]));
}

/** No connection: by what the system says. */
function unreached(url: string, error: unknown): CliError {
  const code = systemCode(error);
  const { hostname, port, protocol } = new URL(url);
  const shown = shownUrl(url);
  if (code === "ENOTFOUND" || code === "EAI_AGAIN") {
    const why = code === "ENOTFOUND" ? `there is no host ${hostname}` : `the host ${hostname} cannot be looked up: no network?`;
    return new CliError(`${shown} cannot be reached: ${why}`, {
      hints: ["Check the host's name in the address (-b), and that this machine has a network."],
      cause: error,
    });
  }
  const where = `port ${port || (protocol === "https:" ? 443 : 80)} of ${hostname}`;
  return new CliError(`${shown} cannot be reached: ${reasonOf(error)}`, {
    hints: [`Start the model server that is to listen on ${where}, or name another address (-b).`, ANYWAY],
    cause: error,
  });
}

/** A connection, and no HTTP over it. */
function unspoken(url: string, error: unknown): CliError {
  const tls = tlsReason(error);
  const other = url.startsWith("https:") ? url.replace("https:", "http:") : url.replace("http:", "https:");
  const why = tls ?? `what listens there does not answer in HTTP (${reasonOf(error)})`;
  return new CliError(`${shownUrl(url)} cannot be talked to: ${why}`, {
    hints: [`Check scheme and port of the address: is it -b ${shownUrl(other)}?`],
    cause: error,
  });
}
