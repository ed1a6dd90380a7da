import { wholeTiming } from "../rollouts/state/stored-timing.ts";
import type { JsonObject } from "../config/plan/run-config.ts";
import { callsOf, isObject, messagesOf, type RowMessage, textOfContent } from "./row-messages.ts";

/**
 * What a column of texts shows of a row, by name: `prompt`, `completion`, `turns`, `seconds`, `error`, `info.<key>`, and any other field of the row by its own name.
 * Pure; never throws for what is in a row.
 */

type Row = Readonly<Record<string, unknown>>;
export type Cell = string | number | boolean | null;

const INFO = "info.";

const MADE: Readonly<Record<string, (row: Row) => unknown>> = {
  /** The question: of several messages the last one of a user. */
  prompt: ({ prompt }) => lastText(messagesOf("prompt", prompt), "user"),
  /** The last answer. */
  completion: ({ completion }) => lastText(messagesOf("completion", completion), "assistant"),
  /** Answers of the model. */
  turns: ({ completion }) => answersIn(completion),
  /** From the beginning to the end of its scoring. */
  seconds: (row) => secondsOf(row),
  error: ({ error }) => errorText(error),
};

/** The value of a field, texts whole; null where the row has none. */
export function fieldOf(row: Row, name: string): Cell {
  const value = Object.hasOwn(MADE, name) ? MADE[name]?.(row) : named(row, name);
  if (value === undefined || value === null) return null;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean" ? value : JSON.stringify(value);
}

/** All text of a field: of a conversation that of every message, with its reasoning and its calls. */
export function textOfField(row: Row, name: string): string {
  if (name === "prompt" || name === "completion")
    return messagesOf(name, row[name])
      .map(({ message }) => textOfMessage(message))
      .join("\n");
  const value = fieldOf(row, name);
  return value === null ? "" : String(value);
}

function named(row: Row, name: string): unknown {
  // An entry of that name in the row itself wins: a state column may be called anything.
  if (Object.hasOwn(row, name)) return row[name];
  const info = infoOf(row.info);
  const key = name.slice(INFO.length);
  return name.startsWith(INFO) && Object.hasOwn(info, key) ? info[key] : null;
}

/** Some libraries write it as JSON inside of JSON. */
function infoOf(info: unknown): Row {
  if (isObject(info)) return info;
  if (typeof info !== "string") return {};
  try {
    const parsed: unknown = JSON.parse(info);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

/** Of the last message of that role that says anything; else of the last that does. */
function lastText(messages: readonly RowMessage[], role: string): string | null {
  const said = messages.filter(({ message }) => textOfContent(message.content).trim() !== "");
  const last = said.findLast(({ message }) => message.role === role) ?? said.at(-1);
  if (last !== undefined) return textOfContent(last.message.content).trim();
  const calls = messages.flatMap(({ message }) => callsOf(message));
  const call = calls.at(-1);
  return call === undefined ? null : `${call.name}(${call.arguments})`;
}

function answersIn(completion: unknown): number | null {
  if (completion === null || completion === undefined) return null;
  return messagesOf("completion", completion).filter(({ message }) => message.role === "assistant" || message.role === "text").length;
}

function secondsOf(row: Row): number | null {
  if (!isObject(row.timing) && row.generation_ms === undefined) return null;
  const { total_ms } = wholeTiming(row as JsonObject);
  return Number.isFinite(total_ms) && total_ms > 0 ? total_ms / 1_000 : null;
}

function errorText(error: unknown): unknown {
  if (!isObject(error)) return error;
  const { message, error_chain_str, error_chain_repr, error: name, code } = error;
  return [message, error_chain_str, error_chain_repr, name, code].find((text) => typeof text === "string" && text !== "") ?? error;
}

function textOfMessage(message: Row): string {
  const reasoning = typeof message.reasoning_content === "string" ? [message.reasoning_content] : [];
  return [...reasoning, textOfContent(message.content), ...callsOf(message).flatMap(({ name, arguments: given }) => [name, given])].join("\n");
}
