import { BATCH_SETTLE_MS } from "../../limits.ts";
import type { ClientType } from "../../config/plan/run-config.ts";
import type { ClientPorts, Endpoint } from "../client.ts";
import { standalonePorts } from "../standalone-ports.ts";
import { AnthropicBatches } from "./anthropic-batches.ts";
import type { BatchRoute } from "./batch-route.ts";
import { OpenAiBatches, type OpenAiBatchEndpoint } from "./openai-batches.ts";

const OPENAI_ENDPOINTS: Partial<Readonly<Record<ClientType, OpenAiBatchEndpoint>>> = {
  openai_chat_completions: "/v1/chat/completions",
  openai_completions: "/v1/completions",
  openai_responses: "/v1/responses",
};

/** Types of clients whose requests can go out in batches. */
export const BATCHED_CLIENT_TYPES: readonly ClientType[] = [...(Object.keys(OPENAI_ENDPOINTS) as ClientType[]), "anthropic_messages"];

/**
 * The batches of the provider at an endpoint; null for a type of client that has none. Of `ports` the permits are not used. `settleMs`: for so long after a batch
 * may have been created one that is not listed is not taken for one that there is not.
 */
export function createBatchRoute(
  type: ClientType,
  endpoint: Endpoint,
  ports: Partial<ClientPorts> = {},
  { settleMs = BATCH_SETTLE_MS }: { readonly settleMs?: number } = {},
): BatchRoute | null {
  const whole = { ...standalonePorts(), ...ports };
  if (type === "anthropic_messages") return new AnthropicBatches(endpoint, whole, settleMs);
  const route = OPENAI_ENDPOINTS[type];
  return route === undefined ? null : new OpenAiBatches(route, endpoint, whole, settleMs);
}
