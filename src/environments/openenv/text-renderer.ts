import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import type { Message } from "../../rollouts/types.ts";
import type { PromptRenderer, RenderContext } from "./openenv-env.ts";
import { singleTextField } from "./openenv-server.ts";

export interface TextRendererOptions {
  /** What stands before the first observation; default: nothing but how to act. */
  readonly instruction?: string;
  /** The field of an observation that the model reads; default: the only one, or all as JSON. */
  readonly field?: string;
}

/**
 * Shows observations as texts. The first message says how to act: what the action's schema is, where the answer is no plain text, or that there are
 * tools.
 */
export const textRenderer =
  ({ instruction = "", field }: TextRendererOptions = {}): PromptRenderer =>
  (observation, context): Message[] => {
    const seen = observationText(observation, field);
    if (context.context === "step") return [{ role: "user", content: seen === "" ? "(nothing is seen)" : seen }];
    const parts = [instruction.trim(), howToAct(context), seen];
    return [{ role: "user", content: parts.filter((part) => part !== "").join("\n\n") }];
  };

function howToAct({ contract, action_schema }: RenderContext): string {
  if (contract === "mcp") return "You are in an environment that you act in by calling the tools. Call no tool when you are done.";
  if (action_schema === null) return "";
  const name = singleTextField(action_schema);
  if (name === null)
    return `You are in an environment. Each of your answers is one action: a JSON object that follows this schema, and nothing else.\n${JSON.stringify(action_schema)}`;
  const { description } = (action_schema.properties as Record<string, JsonObject | undefined>)[name] ?? {};
  return `You are in an environment. Each of your answers is one action, as it stands${typeof description === "string" ? ` (${name}: ${description})` : ""}.`;
}

function observationText(observation: Json, field: string | undefined): string {
  if (typeof observation !== "object" || observation === null || Array.isArray(observation)) return asText(observation);
  if (field !== undefined) return asText(observation[field] ?? null);
  const values = Object.values(observation);
  if (values.length === 0) return "";
  return values.length === 1 ? asText(values[0] ?? null) : JSON.stringify(observation);
}

const asText = (value: Json): string => (typeof value === "string" ? value : value === null ? "" : JSON.stringify(value));
