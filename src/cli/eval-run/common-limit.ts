/** Which evaluations of a command keep to `max_concurrent_total` together, as far as a command can tell. */
import { WORKERS_AI_BASE_URL } from "../../config/endpoints/providers.ts";
import { limitsOf } from "../../config/shares.ts";
import { OPTIONS } from "../../config/options/options.ts";
import { type Sharing, sharedPlace } from "../../endpoint-limits/common-limit.ts";
import type { EvalWish } from "./wish/eval-wish.ts";

/** The evaluations with their places, endpoints that the service keeps written out. */
export const sharingOf = (wishes: readonly Pick<EvalWish, "given" | "replicas">[]): readonly Sharing[] => {
  const limits = limitsOf(wishes);
  return wishes.map((wish, index) => ({ place: placeOf(wish), most: limits[index] ?? OPTIONS.max_concurrent.default }));
};

/** Null where the service may come to another place, or to another key under the same name, than this command would say. */
function placeOf({ given, replicas }: Pick<EvalWish, "given" | "replicas">): string | null {
  const { endpoint_id, api_client_type, api_base_url, api_key_var, model = OPTIONS.model.default, resume = false } = given;
  if (replicas.length > 0 || endpoint_id !== undefined) return null;
  // What a run has that is gone on with is its own where the command names nothing else.
  if (resume !== false && (given.model === undefined || api_base_url === undefined || api_key_var === undefined)) return null;
  // Where no key or address is named the service's own is meant; without an address also the endpoint that is called as the model is.
  const key = { api_key_var: api_key_var ?? "" };
  if (api_client_type === "workers_ai") return sharedPlace({ base_url: WORKERS_AI_BASE_URL, ...key, model });
  return api_base_url === undefined ? JSON.stringify([key.api_key_var, model]) : sharedPlace({ base_url: api_base_url, ...key, model });
}
