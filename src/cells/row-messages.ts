/** The conversation of a row of any library and version, as one list: the messages of its prompt, then those of its completion. Pure; never throws for what is in a row. */

type Row = Readonly<Record<string, unknown>>;

export type RowPart = "prompt" | "completion";

export interface RowMessage {
  readonly part: RowPart;
  /** As it stands in the row; a text that is no list of messages is one of the role `text`. */
  readonly message: Row;
}

export const isObject = (value: unknown): value is Row => typeof value === "object" && value !== null && !Array.isArray(value);

/** Their numbers in this list are what a message is named by. */
export const messagesOfRow = (row: Row): readonly RowMessage[] => [...messagesOf("prompt", row.prompt), ...messagesOf("completion", row.completion)];

export function messagesOf(part: RowPart, value: unknown): readonly RowMessage[] {
  if (value === null || value === undefined) return [];
  const list = Array.isArray(value) ? (value as unknown[]) : [value];
  return list.map((message) => ({
    part,
    message: isObject(message) ? message : { role: "text", content: typeof message === "string" ? message : JSON.stringify(message) },
  }));
}

/** All text of a message's content: parts that are none as their kind in brackets. */
export function textOfContent(content: unknown): string {
  if (typeof content === "string") return content;
  if (content === null || content === undefined) return "";
  if (!Array.isArray(content)) return JSON.stringify(content);
  return content.map(textOfPart).join("\n");
}

function textOfPart(part: unknown): string {
  if (typeof part === "string") return part;
  if (!isObject(part)) return "";
  if (typeof part.text === "string") return part.text;
  return `[${typeof part.type === "string" ? part.type : "part"}]`;
}

/** A call of a tool: rows have it as JSON inside of JSON, as an object, or in OpenAI's form, which has a level more. */
export interface RowCall {
  readonly id: string | null;
  readonly name: string;
  /** As text, JSON where it came as an object. */
  readonly arguments: string;
}

export function callsOf(message: Row): readonly RowCall[] {
  return Array.isArray(message.tool_calls) ? message.tool_calls.map(callOf) : [];
}

function callOf(raw: unknown): RowCall {
  const call = typeof raw === "string" ? parsed(raw) : raw;
  if (!isObject(call)) return { id: null, name: typeof raw === "string" ? raw : "?", arguments: "" };
  const { name, arguments: given } = isObject(call.function) ? call.function : call;
  return {
    id: typeof call.id === "string" ? call.id : null,
    name: typeof name === "string" ? name : "?",
    arguments: typeof given === "string" ? given : given === undefined ? "" : JSON.stringify(given),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** What its data set calls the example of a row. */
export const idOfRow = ({ example_id: id }: Row): number | string | null => (typeof id === "number" || typeof id === "string" ? id : null);
