/** Evaluations that name an endpoint which the service keeps: it is written out as one of a file is, before anything is looked at or compared. */
import { chooseEndpoint } from "../../../config/endpoints/endpoint-choice.ts";
import { type EndpointEntry, registryOf } from "../../../config/endpoints/endpoint-registry.ts";
import { OPTIONS } from "../../../config/options/options.ts";
import type { KeptEndpoint } from "../../connection/api-types.ts";
import { type ServiceClient, ServiceError } from "../../connection/http-client.ts";
import { usageError } from "../../terminal/cli-error.ts";
import type { EvalWish } from "../wish/eval-wish.ts";

/** The name that the service may know; null where the command, or a registry on disk, says already where the model is called. */
function nameToAsk({ given, replicas }: EvalWish): string | null {
  const { endpoint_id, model, api_base_url, resume } = given;
  if (endpoint_id !== undefined) return endpoint_id;
  if (api_base_url !== undefined || replicas.length > 0) return null;
  // A run that is named goes on with the model it has.
  if (model === undefined && typeof resume === "string") return null;
  return model ?? OPTIONS.model.default;
}

/** Throws a usage error for an `endpoint_id` that nobody knows. Each name is asked for once. */
export async function withKeptEndpoints(client: ServiceClient, wishes: readonly EvalWish[]): Promise<readonly EvalWish[]> {
  const names = [...new Set(wishes.map(nameToAsk).filter((name) => name !== null))];
  const known = new Map(await Promise.all(names.map(async (name) => [name, await entriesOf(client, name)] as const)));
  return wishes.map((wish) => {
    const name = nameToAsk(wish);
    const entries = name === null ? null : (known.get(name) ?? null);
    if (name !== null && entries !== null) {
      const { model: _, ...given } = wish.given;
      return { ...wish, ...chooseEndpoint({ ...given, endpoint_id: name }, registryOf("the service", name, entries)) };
    }
    if (wish.given.endpoint_id === undefined) return wish;
    const problem = `endpoint_id ${JSON.stringify(name)} is in no registry of this machine (-e/--endpoints-path), and the service keeps no endpoint of that name`;
    throw usageError(wish.place === null ? problem : `${wish.place}: ${problem}`, "What it keeps: npx edgewise endpoint list");
  });
}

async function entriesOf(client: ServiceClient, name: string): Promise<readonly EndpointEntry[] | null> {
  try {
    const { data } = await client.json<{ data: KeptEndpoint }>("GET", `/endpoints/${encodeURIComponent(name)}`, { retries: 2 });
    const { model, api_client_type, replicas } = data;
    return replicas.map(({ api_base_url, api_key_var, headers }) => ({ model, api_client_type, base_url: api_base_url, api_key_var, headers }));
  } catch (error) {
    // None that is kept, or a model's name that no endpoint could have; a service of before keeps none. What else is wrong the creation says.
    if (error instanceof ServiceError && error.status < 500) return null;
    throw error;
  }
}
