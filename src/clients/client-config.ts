import { PROVIDERS } from "../config/endpoints/providers.ts";
import type { ClientType } from "../config/plan/run-config.ts";
import { resolveKey } from "../config/endpoints/secrets.ts";
import type { Client } from "../rollouts/types.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { ClientPorts } from "./client.ts";
import { createClient } from "./create-client.ts";
import { relayed } from "./relay/relayed.ts";
import { scoreTexts } from "./scoring/score-texts.ts";

/** One place where a model is called, under verifiers' names. What a replica leaves open is its parent's. */
export interface EndpointClientConfig {
  /** Default: the `prime` provider's. */
  readonly api_base_url?: string;
  /** Default `PRIME_API_KEY`. */
  readonly api_key_var?: string;
  /** Seconds for one attempt; default 3600. */
  readonly timeout?: number;
  /** Request retries; default 10. */
  readonly max_retries?: number;
  readonly extra_headers?: Readonly<Record<string, string>>;
}

export interface ClientConfig extends EndpointClientConfig {
  /** Default `openai_chat_completions`. */
  readonly client_type?: ClientType;
  readonly extra_headers_from_state?: Readonly<Record<string, string>>;
  /** Replicas: all rollouts of an example go to one of them, example i to replica i mod n. */
  readonly endpoint_configs?: readonly EndpointClientConfig[];
}

/** The places of a config, each with everything written out. Throws `invalid_request` for a replica with replicas of its own. */
export function resolveEndpointConfigs(config: ClientConfig): readonly ClientConfig[] {
  const { endpoint_configs = [], ...parent } = config;
  const nested = endpoint_configs.findIndex(
    (place) => "endpoint_configs" in place && Array.isArray(place.endpoint_configs) && place.endpoint_configs.length > 0,
  );
  if (nested >= 0) throw new EdgewiseError("invalid_request", `endpoint_configs[${nested}] has endpoint_configs of its own; replicas have none`);
  return endpoint_configs.length === 0 ? [parent] : endpoint_configs.map((place) => ({ ...parent, ...place }));
}

/** Values of variables by name. */
export type Variables = Readonly<Record<string, string | undefined>>;

const processVariables = (): Variables => (globalThis as { process?: { env?: Variables } }).process?.env ?? {};

/**
 * A client that stands on its own, for scripts and notebooks. Keys are looked up in `variables`, by default those of the process;
 * one is needed everywhere but at private addresses. Throws `missing_key` and `invalid_request`.
 */
export function clientOf(config: ClientConfig, variables: Variables = processVariables(), ports: Partial<ClientPorts> = {}): Client {
  const clients = resolveEndpointConfigs(config).map((place) => clientAt(place, variables, ports));
  const [only, second] = clients;
  if (only === undefined) throw new EdgewiseError("invalid_request", "a client needs a place to call");
  if (second === undefined) return only;
  const placeOf = (example: unknown): Client => clients[Number.isSafeInteger(example) ? Math.abs(Number(example)) % clients.length : 0] ?? only;
  return {
    type: only.type,
    getResponse: (request) => placeOf(request.state.example_id).getResponse(request),
    ...(only.score === undefined ? {} : { score: (request) => scoreTexts(placeOf(request.state.example_id), request) }),
    ...(only.relay === undefined ? {} : { relay: (request) => relayed(placeOf(request.state.example_id), request) }),
  };
}

function clientAt(place: ClientConfig, variables: Variables, ports: Partial<ClientPorts>): Client {
  const { client_type = "openai_chat_completions", api_base_url = PROVIDERS.prime.base_url, api_key_var = PROVIDERS.prime.api_key_var } = place;
  const known = Object.fromEntries(Object.entries(variables).filter(([, value]) => value !== undefined)) as Record<string, string>;
  const key = resolveKey({ LOCAL: "1", LOCAL_SECRETS: known }, api_key_var, api_base_url);
  if (!key.ok) throw new EdgewiseError(key.error.code, key.error.message, key.error.hint === undefined ? {} : { hint: key.error.hint });
  return createClient(
    client_type,
    {
      base_url: api_base_url,
      api_key: key.value.key,
      api_key_var,
      headers: { ...place.extra_headers, ...key.value.headers },
      ...(place.extra_headers_from_state === undefined ? {} : { headers_from_state: place.extra_headers_from_state }),
    },
    {
      ...(place.timeout === undefined ? {} : { timeouts: { request_ms: place.timeout * 1_000 } }),
      ...(place.max_retries === undefined ? {} : { maxRequestRetries: place.max_retries }),
      ...ports,
    },
  );
}
