import { CLIENT_TYPES, type ClientType } from "../config/plan/run-config.ts";
import type { Client } from "../rollouts/types.ts";
import { EdgewiseError } from "../errors/result.ts";
import { AnthropicMessagesClient } from "./anthropic/anthropic-messages.ts";
import type { ClientPorts, Endpoint } from "./client.ts";
import { OpenAIChatCompletionsClient } from "./openai/openai-chat-completions.ts";
import { OpenAIChatCompletionsTokenClient } from "./openai/openai-chat-completions-token.ts";
import { OpenAICompletionsClient } from "./openai/openai-completions.ts";
import { OpenAIResponsesClient } from "./openai/openai-responses.ts";
import { standalonePorts } from "./standalone-ports.ts";
import { WorkersAIClient } from "./workers-ai/workers-ai.ts";

const CLIENTS: Readonly<Record<ClientType, new (endpoint: Endpoint, ports: ClientPorts) => Client>> = {
  openai_chat_completions: OpenAIChatCompletionsClient,
  openai_completions: OpenAICompletionsClient,
  openai_chat_completions_token: OpenAIChatCompletionsTokenClient,
  openai_responses: OpenAIResponsesClient,
  anthropic_messages: AnthropicMessagesClient,
  workers_ai: WorkersAIClient,
};

/** An endpoint as a program names it that has the key itself; `api_key_var` is for messages only. */
export type EndpointOptions = Pick<Endpoint, "base_url" | "api_key"> & Partial<Endpoint>;

/**
 * The client of one endpoint; make it once and use it for every call. Without `ports` it stands on its own: the platform's
 * `fetch` and clock, and no limit on requests in flight. Throws `invalid_request` for a type that is none, `missing_key` for an
 * unusable key.
 */
export function createClient(type: ClientType, endpoint: EndpointOptions, ports: Partial<ClientPorts> = {}): Client {
  const Kind = Object.hasOwn(CLIENTS, type) ? CLIENTS[type] : undefined;
  if (Kind === undefined) {
    throw new EdgewiseError("invalid_request", `api_client_type ${JSON.stringify(type)} is unknown`, { hint: `one of ${CLIENT_TYPES.join(", ")}` });
  }
  const whole: Endpoint = { api_key_var: "api_key", headers: {}, ...endpoint };
  checkKey(whole);
  return new Kind(whole, { ...standalonePorts(), ...ports });
}

/** A key that cannot stand in a header would make every request fail with an error that quotes it. */
function checkKey(endpoint: Endpoint): void {
  if (!/^[\x21-\x7e]+$/.test(endpoint.api_key)) {
    throw new EdgewiseError("missing_key", `the value of ${endpoint.api_key_var} holds characters that no key has (a space, a line break, an accent)`, {
      hint: `set ${endpoint.api_key_var} to the bare key`,
    });
  }
}
