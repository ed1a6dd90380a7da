import { aroundClient } from "../../clients/around-client.ts";
import type { BatchRoute } from "../../clients/batching/batch-route.ts";
import { createBatchRoute } from "../../clients/batching/create-batch-route.ts";
import type { ClientPorts } from "../../clients/client.ts";
import { createClient } from "../../clients/create-client.ts";
import { EndpointPause } from "../../clients/endpoint-pause.ts";
import type { Gate } from "../../clients/gate.ts";
import { endpointBlotter, shownUrl } from "../../clients/secrets.ts";
import { callUrl } from "../../config/endpoints/providers.ts";
import type { Place as NamedPlace } from "../../clients/transport/request-failure.ts";
import type { EndpointKey } from "../../config/endpoints/secrets.ts";
import type { Replica, RunConfig } from "../../config/plan/run-config.ts";
import { EdgewiseError, type Result } from "../../errors/result.ts";
import { MAX_RELAYED_STREAM_CHARACTERS_LOCAL } from "../../limits.ts";
import type { Client, ModelResponse } from "../../rollouts/types.ts";
import type { RunSecrets } from "../../secrets/run-secrets.ts";
import type { ExecutorPorts } from "../ports.ts";
import type { Slice } from "../slice.ts";
import type { RunNotes } from "./notes.ts";
import type { Place } from "./places.ts";

type Notes = Pick<RunNotes, "retry" | "info" | "warning" | "answered">;
type Called = Pick<RunConfig, "api_client_type" | "headers" | "headers_from_state">;

/** A place as jobs are brought there. */
export interface BatchPlace {
  readonly route: BatchRoute;
  /** By what people know it. */
  readonly named: NamedPlace;
  /** Blots out the secrets of the place. */
  readonly blot: (text: string) => string;
}

/** Makes what one executor calls places with: the keys live in that and nowhere else, and what it sends is counted. */
export class EndpointClients {
  readonly #ports: ExecutorPorts;
  readonly #slice: Slice;
  readonly #connections: Gate | null;

  /** `connections`: shared by all that it calls; null = nobody counts them. */
  constructor(ports: ExecutorPorts, slice: Slice, connections: Gate | null) {
    this.#ports = ports;
    this.#slice = slice;
    this.#connections = connections;
  }

  /** The key of a place of the run. Throws `missing_key`, or why it is not sent there. */
  keyOf(secrets: RunSecrets, { base_url, api_key_var }: Pick<Replica, "base_url" | "api_key_var">): EndpointKey {
    return keyOrThrow(secrets.keyOf(this.#ports.keys, api_key_var, base_url) ?? this.#ports.keyOf(api_key_var, base_url));
  }

  /** The same of a place that the run's environment calls. */
  judgeKeyOf(secrets: RunSecrets, { base_url, api_key_var }: Pick<Replica, "base_url" | "api_key_var">): EndpointKey {
    return keyOrThrow(secrets.judgeKeyOf(this.#ports.keys, api_key_var, base_url) ?? this.#ports.keyOf(api_key_var, base_url));
  }

  /** A client of a model at one place. Environments hold it, and nothing of it leads to the key. */
  client(
    config: Called,
    replica: Replica,
    notes: Notes,
    { pause, health, limitName, scoring, costs, storm }: Place,
    key: EndpointKey,
    ports: Partial<ClientPorts>,
  ): Client {
    const { now, sleep, random, ai } = this.#ports;
    const client = createClient(config.api_client_type, endpointOf(config, replica, key), {
      now,
      sleep,
      random,
      ...(this.#connections === null ? { relayedCharacters: MAX_RELAYED_STREAM_CHARACTERS_LOCAL } : { connections: this.#connections }),
      ...(ai === null ? {} : { ai: { run: (...call) => this.spending(() => ai.run(...call)) } }),
      fetch: async (url, init) => {
        try {
          const response = await this.spending(() => this.#ports.fetch(url, init));
          health.reached();
          return response;
        } catch (thrown) {
          if (!init?.signal?.aborted) health.refused();
          throw thrown;
        }
      },
      onWarning: (kind, message) => notes.warning(kind, message),
      onNote: (message) => notes.info(message),
      timeouts: {},
      pause,
      limitName,
      scoring,
      costs,
      storm,
      ...ports,
    });
    return aroundClient(client, async (request, ask) => {
      const answer = await ask(request);
      // What was kept says nothing of the place.
      if ((answer as Partial<ModelResponse>).cached !== true) notes.answered++;
      return answer;
    });
  }

  /** The batches of the provider at a place. Throws for a type of client that has none. */
  batches(
    config: Called & Pick<RunConfig, "model">,
    replica: Replica,
    notes: Pick<RunNotes, "warning" | "retry">,
    key: EndpointKey,
    settleMs: number | undefined,
  ): BatchPlace {
    const { now, sleep, random, fetch } = this.#ports;
    const endpoint = endpointOf(config, replica, key);
    const ports: Partial<ClientPorts> = {
      ...{ now, sleep, random },
      ...(this.#connections === null ? {} : { connections: this.#connections }),
      fetch: (url, init) => this.spending(() => fetch(url, init)),
      // What its batches are told to wait for is not waited for by requests.
      pause: new EndpointPause(this.#ports),
      onWarning: (kind, message) => notes.warning(kind, message),
      onRetry: (notice) => notes.retry(notice),
      timeouts: {},
    };
    const route = createBatchRoute(config.api_client_type, endpoint, ports, settleMs === undefined ? {} : { settleMs });
    if (route === null) throw new EdgewiseError("invalid_request", `a client of the type ${config.api_client_type} puts no requests into batches`);
    const named = { url: shownUrl(endpoint.base_url), model: config.model, keyVar: replica.api_key_var, keyless: false };
    return { route, named, blot: endpointBlotter(endpoint.api_key, endpoint.headers) };
  }

  /** A request of this executor that no model takes: within its connections, and counted. */
  readonly fetch: ExecutorPorts["fetch"] = async (url, init) => {
    await this.#connections?.enter(init?.signal);
    try {
      return await this.spending(() => this.#ports.fetch(url, init));
    } finally {
      this.#connections?.leave();
    }
  };

  /** Does `call`, which is one subrequest. */
  spending<T>(call: () => Promise<T>): Promise<T> {
    this.#slice.spend();
    return call();
  }
}

function keyOrThrow(key: Result<EndpointKey>): EndpointKey {
  if (key.ok) return key.value;
  throw new EdgewiseError(key.error.code, key.error.message, key.error.hint === undefined ? {} : { hint: key.error.hint });
}

function endpointOf({ headers, headers_from_state }: Called, { base_url, api_key_var, headers: own }: Replica, { key, headers: keyHeaders }: EndpointKey) {
  return {
    base_url: callUrl(base_url),
    api_key: key,
    api_key_var,
    headers: { ...own, ...headers, ...keyHeaders },
    ...(headers_from_state === undefined ? {} : { headers_from_state }),
  };
}
