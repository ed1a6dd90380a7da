import type { Usage } from "../../rollouts/types.ts";

/** Reading answers of servers that keep to no schema: what has the right form is taken, anything else is as good as absent. */

export type Fields = Record<string, unknown>;

export const record = (value: unknown): Fields | null => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null);
export const records = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(record).filter((fields) => fields !== null) : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : "");

const isCount = (value: unknown): value is number => typeof value === "number" && Number.isSafeInteger(value) && value >= 0;

/** Whole numbers only; `input_tokens` and `output_tokens` are other servers' names for the same. */
export function readUsage(raw: unknown): Usage | null {
  const usage = record(raw);
  const prompt = usage?.prompt_tokens ?? usage?.input_tokens;
  const completion = usage?.completion_tokens ?? usage?.output_tokens;
  const total = usage?.total_tokens ?? Number(prompt) + Number(completion);
  if (!isCount(prompt) || !isCount(completion) || !isCount(total)) return null;
  return { prompt_tokens: prompt, reasoning_tokens: 0, completion_tokens: completion, total_tokens: total };
}

/** What every answer says of itself, under OpenAI's names. */
export const readHead = (reply: Fields): { id: string; created: number; model: string } => ({
  id: text(reply.id),
  created: typeof reply.created === "number" ? reply.created : 0,
  model: text(reply.model),
});
