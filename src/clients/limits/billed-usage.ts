import type { PricedUsage } from "../../prices/price.ts";
import { readUsage, record } from "../openai/reply-fields.ts";

/** What a token costs that Anthropic puts into its cache, in tokens of input; twice where it keeps it for an hour (https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing). */
const WRITTEN = 1.25;
const WRITTEN_FOR_AN_HOUR = 2;

const count = (value: unknown): number => (typeof value === "number" && Number.isFinite(value) && value > 0 ? value : 0);

/** What an answer's `usage` says that it is billed for; null where it says nothing of that. */
export function billedBy(raw: unknown): PricedUsage | null {
  const tokens = readUsage(raw);
  const usage = record(raw);
  if (tokens === null || usage === null) return null;
  // Anthropic counts what it reads from its cache, and writes to it, beside the others.
  const beside = count(usage.cache_read_input_tokens);
  const hour = count(record(usage.cache_creation)?.ephemeral_1h_input_tokens);
  const written = Math.max(hour, count(usage.cache_creation_input_tokens));
  const within =
    count(record(usage.prompt_tokens_details)?.cached_tokens) ||
    count(record(usage.input_tokens_details)?.cached_tokens) ||
    count(usage.prompt_cache_hit_tokens);
  return {
    input_tokens: tokens.prompt_tokens + beside + Math.ceil((written - hour) * WRITTEN) + hour * WRITTEN_FOR_AN_HOUR,
    output_tokens: tokens.completion_tokens,
    ...(beside + within === 0 ? {} : { cached_input_tokens: beside + within }),
  };
}
