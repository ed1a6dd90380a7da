import type { Json, JsonObject } from "../../config/plan/run-config.ts";
import { fieldsOf, type Fields, isFields, listOf } from "./episode.ts";

/** What was said before the model first wrote, and from there on. */
export interface Conversation {
  readonly prompt: Json[];
  readonly completion: Json[];
}

/** Nodes from a root to the last leaf, which is the branch that the agent ended on. */
function lastBranch(nodes: readonly Fields[]): readonly Fields[] {
  const branch: Fields[] = [];
  const seen = new Set<number>();
  for (let at = nodes.length - 1; at >= 0 && !seen.has(at); ) {
    seen.add(at);
    const node = nodes[at];
    if (node === undefined) break;
    branch.unshift(node);
    at = typeof node.parent === "number" && Number.isInteger(node.parent) ? node.parent : -1;
  }
  return branch;
}

/** The conversation of a trace; of one without nodes, the prompt that its task has. */
export function conversationOf(trace: Fields | null, task: Fields): Conversation {
  const nodes = lastBranch(listOf(trace?.nodes));
  const first = nodes.findIndex((node) => node.sampled === true);
  const from = first < 0 ? nodes.length : first;
  const messages = nodes.map(({ message }) => messageOf(fieldsOf(message)));
  const prompt = messages.slice(0, from);
  return { prompt: prompt.length > 0 ? prompt : promptOf(fieldsOf(task.data).prompt), completion: messages.slice(from) };
}

function promptOf(prompt: unknown): Json[] {
  if (typeof prompt === "string") return [{ role: "user", content: prompt }];
  return listOf(prompt).map(messageOf);
}

/** As a row has it: without nulls, tool calls as JSON texts. */
function messageOf(message: Fields): JsonObject {
  const present = Object.entries(message).filter(([, value]) => value !== null && value !== undefined) as [string, Json][];
  return Object.fromEntries(present.map(([key, value]) => [key, key === "tool_calls" && Array.isArray(value) ? value.map(callText) : value]));
}

const callText = (call: Json): Json => {
  if (!isFields(call)) return call;
  const { id, name, arguments: given } = call as JsonObject;
  return JSON.stringify({ ...(id === undefined ? {} : { id }), ...(name === undefined ? {} : { name }), ...(given === undefined ? {} : { arguments: given }) });
};
