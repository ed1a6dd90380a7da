import type { Content, Part } from "../../rollouts/types.ts";

const isPart = (item: unknown): item is Part =>
  typeof item === "object" && item !== null && "type" in item && (item.type === "text" || item.type === "image_url");

/** Whether a tool's result can go to the model as content parts: a list of text and image parts, the empty one too. */
export const isContentParts = (result: unknown): result is Part[] => Array.isArray(result) && result.every(isPart);

/** A tool's result as content of a message: texts and lists of parts as they are, everything else as JSON (nothing as `null`). */
export function toolContent(result: unknown): Content {
  if (typeof result === "string" || isContentParts(result)) return result;
  return JSON.stringify(result ?? null) ?? String(result);
}
