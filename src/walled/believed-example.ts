import { EdgewiseError } from "../errors/result.ts";
import { MAX_ROW_CHARS } from "../limits.ts";
import { JsonCheck } from "../rollouts/kept/json-problem.ts";
import { normaliseMessages } from "../rollouts/messages.ts";
import type { RolloutInput } from "../rollouts/types.ts";

/** An example that an environment behind a wall gives. Throws `environment_failed` for what is none. */
export function believedExample(raw: unknown, index: number, environment: string): RolloutInput {
  const problem = problemOf(raw);
  if (problem !== null) throw new EdgewiseError("environment_failed", `environment ${environment} gave an example that is none: row ${index} ${problem}`);
  return raw as RolloutInput;
}

function problemOf(raw: unknown): string | null {
  if (typeof raw !== "object" || raw === null || Array.isArray(raw)) return "is no object";
  const { example_id, prompt, task, info } = raw as Record<string, unknown>;
  if (!Number.isSafeInteger(example_id)) return "has no integer as example_id";
  if (typeof task !== "string") return "has no text as task";
  if (info !== undefined && info !== null && (typeof info !== "object" || Array.isArray(info))) return "has no object as info";
  const found = new JsonCheck(MAX_ROW_CHARS).problemOf(raw, "it");
  if (found !== null) return `is no JSON: ${found.path} ${found.problem}`;
  try {
    if (!Array.isArray(prompt)) return "has no messages as prompt";
    normaliseMessages(prompt);
  } catch (thrown) {
    return `has a prompt that is none: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
  }
  return null;
}
