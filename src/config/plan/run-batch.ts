import { BATCH_TIMEOUT_MINUTES } from "../options/execution-options.ts";
import { EMBEDDED_BASE_URL } from "../endpoints/providers.ts";
import { HTTP_TIMEOUT_MINUTES, type OptionName } from "../options/options.ts";
import { asksForStream } from "../options/sampling.ts";
import { type ClientType, type JsonObject, placesOf, type RunConfig } from "./run-config.ts";

/** Client types whose providers take batches. */
const BATCHED_TYPES: readonly ClientType[] = ["openai_chat_completions", "openai_completions", "openai_responses", "anthropic_messages"];

/** A config has the field only where it says something. */
export const batchField = (batch: boolean | null | undefined): Pick<RunConfig, "batch"> => (batch === true ? { batch } : {});

/** Minutes of a run that says nothing of its time; null = as long as it takes. */
export function usualMinutes({ batch }: { readonly batch?: boolean | undefined }, attended: boolean): number | null {
  if (batch === true) return BATCH_TIMEOUT_MINUTES;
  return attended ? null : HTTP_TIMEOUT_MINUTES;
}

type Asked = Pick<
  RunConfig,
  "batch" | "api_client_type" | "base_url" | "api_key_var" | "replicas" | "sampling_args" | "stop_when" | "headers_from_state" | "rescored_from"
>;

/** Why the requests of a run cannot go out in batches, and the option that is in the way; null where they can, or are not to. */
export function batchProblem(config: Asked): { readonly option: OptionName; readonly msg: string } | null {
  if (config.batch !== true) return null;
  if (config.rescored_from !== undefined)
    return { option: "batch", msg: "is for runs that call a model, and this one scores rollouts that are there: leave it out" };
  const { api_client_type: type, sampling_args: sampling } = config;
  if (placesOf(config).some(({ base_url }) => base_url === EMBEDDED_BASE_URL))
    return { option: "batch", msg: "is for providers with a batch route (OpenAI, Anthropic), and the embedded model has none: leave it out" };
  if (!BATCHED_TYPES.includes(type))
    return { option: "batch", msg: `needs a client type with a batch route (${BATCHED_TYPES.join(", ")}), and ${type} has none: leave it out` };
  if (asksForStream(sampling)) return { option: "sampling_args", msg: "stream: the answers of a batch come whole: leave stream out, or leave batch out" };
  if (asksForTier(sampling))
    return {
      option: "sampling_args",
      msg: "service_tier: requests of a batch are served when there is room, by no tier: leave service_tier out, or leave batch out",
    };
  if (config.headers_from_state !== undefined)
    return { option: "headers_from_state", msg: "requests of a batch have no headers of their own: leave headers_from_state out, or leave batch out" };
  if (config.stop_when !== undefined)
    return { option: "stop_when", msg: "stops before all examples are asked, and a batch has asked them by then: leave one of stop_when and batch out" };
  return null;
}

/** Also one that is asked for in `extra_body`. */
function asksForTier({ service_tier, extra_body }: JsonObject): boolean {
  const extra = typeof extra_body === "object" && extra_body !== null && !Array.isArray(extra_body) ? extra_body.service_tier : undefined;
  return (extra ?? service_tier ?? null) !== null;
}
