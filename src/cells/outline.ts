import { metricsOfRow } from "../metrics/row-metrics.ts";
import { clip } from "./clip.ts";
import { callsOf, isObject, messagesOfRow, type RowMessage, type RowPart, textOfContent } from "./row-messages.ts";
import { type RowTurn, turnsOfRow } from "./row-turns.ts";

/**
 * What a page shows of a rollout before anybody reads its messages: who says how much in what order, and all that is small. Messages follow by their
 * numbers. Pure; never throws for what is in a row.
 */

type Row = Readonly<Record<string, unknown>>;

/** Characters of each message that stand in the outline; and, where there are so many messages that it would be no outline, of all of them together, but for the first of each. */
export const OUTLINE_CHARACTERS = 300;
const ALL_CHARACTERS = 2_000_000;
const FIRST_CHARACTERS = 20;
/** JSON of a field that is larger stands in the outline by its beginning only. */
export const FIELD_CHARACTERS = 4_096;
/** Calls of one message that are named. */
const NAMED_CALLS = 64;

export interface MessageOutline {
  readonly part: RowPart;
  readonly role: string;
  /** Characters of its content, and the first of them. */
  readonly chars: number;
  readonly text: string;
  /** Characters of its reasoning; absent = it has none. */
  readonly reasoning_chars?: number;
  /** Calls of tools, the first 64 of them; absent = none. */
  readonly tool_calls?: readonly { readonly id: string | null; readonly name: string; readonly chars: number }[];
  /** The call that it answers. */
  readonly tool_call_id?: string;
  /** Kinds of its parts that are no text, such as `image_url`. */
  readonly media?: readonly string[];
}

export interface LongField {
  readonly kind: "text" | "list" | "object";
  /** Characters of a text; elements of a list; keys of an object. */
  readonly size: number;
  /** The first characters of it, as JSON where it is no text. */
  readonly start: string;
}

export interface RowOutline {
  readonly messages: readonly MessageOutline[];
  /** What each answer of the model took, by the number of its message; empty where the row does not say. */
  readonly turns: readonly RowTurn[];
  readonly metrics: Readonly<Record<string, unknown>>;
  /** Names of the tools that it was given. */
  readonly tools: readonly string[];
  /** All other fields of the row that are small, whole. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** And those that are not. */
  readonly long: Readonly<Record<string, LongField>>;
}

/** Fields that stand elsewhere in the outline. */
const ELSEWHERE: ReadonlySet<string> = new Set(["prompt", "completion", "metrics", "tool_defs"]);

export function outlineOfRow(row: Row): RowOutline {
  const messages = messagesOfRow(row);
  const metrics = metricsOfRow(row);
  const others = Object.entries(row).filter(([name]) => !ELSEWHERE.has(name) && !Object.hasOwn(metrics, name));
  const sized = others.map(([name, value]) => [name, value, longField(value)] as const);
  return {
    messages: messages.map((message) => messageOutline(message, charactersOf(messages.length))),
    turns: turnsOfRow(row, messages),
    metrics,
    tools: toolsOf(row.tool_defs),
    fields: Object.fromEntries(sized.flatMap(([name, value, long]) => (long === null ? [[name, value]] : []))),
    long: Object.fromEntries(sized.flatMap(([name, , long]) => (long === null ? [] : [[name, long]]))),
  };
}

const charactersOf = (messages: number): number => Math.max(FIRST_CHARACTERS, Math.min(OUTLINE_CHARACTERS, Math.floor(ALL_CHARACTERS / messages)));

export function messageOutline({ part, message }: RowMessage, characters = OUTLINE_CHARACTERS): MessageOutline {
  const text = textOfContent(message.content);
  const calls = callsOf(message);
  const media = Array.isArray(message.content)
    ? message.content.flatMap((each) => (isObject(each) && typeof each.text !== "string" ? [typeof each.type === "string" ? each.type : "part"] : []))
    : [];
  const reasoning = message.reasoning_content;
  return {
    part,
    role: typeof message.role === "string" ? clip(message.role, 40) : "?",
    chars: text.length,
    text: clip(text, characters),
    ...(typeof reasoning === "string" && reasoning !== "" ? { reasoning_chars: reasoning.length } : {}),
    ...(calls.length === 0
      ? {}
      : {
          tool_calls: calls
            .slice(0, NAMED_CALLS)
            .map(({ id, name, arguments: given }) => ({ id: id === null ? null : clip(id, 200), name: clip(name, 200), chars: given.length })),
        }),
    ...(typeof message.tool_call_id === "string" ? { tool_call_id: clip(message.tool_call_id, 200) } : {}),
    ...(media.length === 0 ? {} : { media: media.slice(0, NAMED_CALLS).map((kind) => clip(kind, 40)) }),
  };
}

/** Null for what is small enough to stand there whole. */
export function longField(value: unknown): LongField | null {
  if (typeof value === "string") return value.length <= FIELD_CHARACTERS ? null : { kind: "text", size: value.length, start: clip(value, OUTLINE_CHARACTERS) };
  if (typeof value !== "object" || value === null) return null;
  const text = JSON.stringify(value);
  if (text.length <= FIELD_CHARACTERS) return null;
  const isList = Array.isArray(value);
  return { kind: isList ? "list" : "object", size: isList ? value.length : Object.keys(value).length, start: clip(text, OUTLINE_CHARACTERS) };
}

const toolsOf = (tools: unknown): readonly string[] => (Array.isArray(tools) ? tools.map(toolName) : []);

function toolName(tool: unknown): string {
  const own = isObject(tool) && isObject(tool.function) ? tool.function : tool;
  const name = isObject(own) ? own.name : own;
  return typeof name === "string" ? clip(name, 200) : "?";
}
