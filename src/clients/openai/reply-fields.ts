import type { PricedUsage } from "../../prices/price.ts";
import type { Usage } from "../../rollouts/types.ts";

/** Reading answers of servers that keep to no schema: what has the right form is taken, anything else is as good as absent. */

export type Fields = Record<string, unknown>;

export const record = (value: unknown): Fields | null => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null);
export const records = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(record).filter((fields) => fields !== null) : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

const countOf = (value: unknown): number => (isCount(value) ? value : 0);

/** Whole numbers only; `input_tokens` and `output_tokens` are other servers' names for the same. */
export function readUsage(raw: unknown): Usage | null {
  const usage = record(raw);
  const prompt = usage?.prompt_tokens ?? usage?.input_tokens;
  const completion = usage?.completion_tokens ?? usage?.output_tokens;
  const total = usage?.total_tokens ?? Number(prompt) + Number(completion);
  if (!isCount(prompt) || !isCount(completion) || !isCount(total)) return null;
  const tokens = { prompt_tokens: prompt, reasoning_tokens: 0, completion_tokens: completion, total_tokens: total };
  const billed = billedIn(usage ?? {}, tokens);
  return billed === null ? tokens : { ...tokens, billed };
}

/** Null where what is billed are the tokens as they stand. */
function billedIn(usage: Fields, { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total }: Usage): PricedUsage | null {
  const details = record(usage.prompt_tokens_details) ?? record(usage.input_tokens_details);
  if (usage.prompt_tokens === undefined && details === null) {
    // Anthropic counts what it reads from its cache and writes there beside the other input.
    const read = countOf(usage.cache_read_input_tokens);
    const written = countOf(usage.cache_creation_input_tokens);
    const long = Math.min(written, countOf(record(usage.cache_creation)?.ephemeral_1h_input_tokens));
    if (read + written > 0) {
      const parts = { cached_input_tokens: read, cache_write_tokens: written - long, long_cache_write_tokens: long };
      const some = Object.entries(parts).filter(([, tokens]) => tokens > 0);
      return { input_tokens: prompt + read + written, output_tokens: completion, ...Object.fromEntries(some) };
    }
  }
  // DeepSeek says it under a name of its own.
  const cached = Math.min(prompt, countOf(details?.cached_tokens ?? usage.prompt_cache_hit_tokens));
  // Gemini's chat route and xAI leave thinking out of `completion_tokens`, count it into the total, and bill it as output.
  const output = Math.max(completion, total - prompt);
  if (cached === 0 && output === completion) return null;
  return { input_tokens: prompt, output_tokens: output, ...(cached === 0 ? {} : { cached_input_tokens: cached }) };
}

/** What every answer says of itself, under OpenAI's names. */
export const readHead = (reply: Fields): { id: string; created: number; model: string } => ({
  id: text(reply.id),
  created: typeof reply.created === "number" ? reply.created : 0,
  model: text(reply.model),
});
