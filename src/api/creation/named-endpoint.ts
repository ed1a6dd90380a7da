import { chooseEndpoint } from "../../config/endpoints/endpoint-choice.ts";
import { type EndpointEntry, registryOf } from "../../config/endpoints/endpoint-registry.ts";
import type { AppPorts } from "../app-ports.ts";
import { invalid } from "../errors.ts";
import { unlessOlder } from "../older-object.ts";
import { readTwice } from "../read-twice.ts";
import type { CreateBody } from "../schemas.ts";

/** Who names addresses says where the model is called, whatever the team calls it. */
const namesItsPlace = ({ api_base_url, replicas }: CreateBody["eval_config"]): boolean => api_base_url !== undefined || replicas !== undefined;

/**
 * A creation with the endpoint of its team that it names, as `endpoint_id` or as its model, written out as an entry of a file would be; `endpoint`
 * is its id, null where it names none. Throws for an `endpoint_id` that the team has not.
 */
export async function withNamedEndpoint(ports: AppPorts, body: CreateBody): Promise<{ readonly body: CreateBody; readonly endpoint: string | null }> {
  const { endpoint_id, replicas, custom_secrets, ...settings } = body.eval_config;
  const place = ["body", "eval_config", "endpoint_id"];
  const id = endpoint_id ?? body.inference_model;
  if (id === undefined || (endpoint_id === undefined && namesItsPlace(body.eval_config))) return { body, endpoint: null };
  if (endpoint_id !== undefined && replicas !== undefined) throw invalid(place, "names the places of the model already: leave out replicas");
  const entries = await entriesOf(ports, id);
  if (entries === null && endpoint_id === undefined) return { body, endpoint: null };
  if (entries === null)
    throw invalid(place, `${JSON.stringify(id)} is no endpoint of this team: GET /endpoints (\`npx edgewise endpoint list\`) shows those there are`);
  const chosen = chooseEndpoint({ endpoint_id: id, ...settings }, registryOf("this team", id, entries));
  const { model, ...given } = chosen.given;
  const places = chosen.replicas.length === 0 ? {} : { api_base_url: undefined, replicas: [...chosen.replicas] };
  const eval_config = { ...given, ...(custom_secrets === undefined ? {} : { custom_secrets }), ...places };
  return { body: { ...body, inference_model: model, eval_config }, endpoint: id };
}

/** Null where the team has no endpoint of that id. */
export async function entriesOf(ports: AppPorts, id: string) {
  const asked = readTwice(
    () => ports.registry,
    (registry) => registry.endpoint(id),
  );
  return (await unlessOlder(asked, null))?.entries ?? null;
}

/** The places of a row that may name an endpoint by `endpoint_id`, none where it names none; throws for one that the team has not. `at`: where in the request the row is. */
export async function placesOfRow(
  ports: AppPorts,
  { endpoint_id: id }: { readonly endpoint_id?: string | undefined },
  at: readonly (string | number)[],
): Promise<readonly EndpointEntry[]> {
  const entries = id === undefined ? [] : await entriesOf(ports, id);
  if (entries !== null) return entries;
  const known = "GET /endpoints (`npx edgewise endpoint list`) shows those there are";
  throw invalid([...at, "endpoint_id"], `${JSON.stringify(id)} is no endpoint of this team: ${known}`);
}
