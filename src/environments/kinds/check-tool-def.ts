import type { Tool } from "../../rollouts/types.ts";

/** Throws a `TypeError` for a tool in OpenAI's nested form. */
export function checkToolDef(tool: Tool): void {
  if (typeof tool.name !== "string" || "function" in tool)
    throw new TypeError("toolDefs holds a tool in OpenAI's nested form; give {name, description, parameters}");
}
