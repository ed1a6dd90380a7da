import type { FieldShape } from "./field-shape.ts";

/** What somebody wrote into a field. */
export interface Given {
  readonly text: string;
  /** It is written as JSON, whatever the field is: a value that its shape cannot say. */
  readonly json?: true;
}

/** What is given by name; what is not in it is not given. Names are foreign code's: they are looked for among its own alone. */
export type Values = Readonly<Record<string, Given>>;

export const valueIn = (values: Values, name: string): Given | null => (Object.hasOwn(values, name) ? (values[name] as Given) : null);

/** With another value, or without one. */
export const withValue = (values: Values, name: string, given: Given | null): Values =>
  Object.fromEntries([...Object.entries(values).filter(([other]) => other !== name), ...(given === null ? [] : [[name, given] as const])]);

export type Read = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly msg: string };

const fault = (msg: string): Read => ({ ok: false, msg });

/** The value that a text means, or what is wrong with it. */
export function readGiven(shape: FieldShape, { text, json }: Given): Read {
  if (json === true || shape.kind === "json") return readJson(text);
  switch (shape.kind) {
    case "text":
      return { ok: true, value: text };
    case "switch":
    case "boolean":
      return text === "true" || text === "false" ? { ok: true, value: text === "true" } : fault("is yes or no");
    case "lines":
      return { ok: true, value: text.split("\n").flatMap((line) => (line.trim() === "" ? [] : [line.trim()])) };
    case "choice": {
      const chosen = shape.choices.find((each) => choiceText(each) === text);
      return chosen === undefined ? fault("is none of its choices") : { ok: true, value: chosen };
    }
    default:
      return readNumber(shape, text.trim());
  }
}

function readNumber({ kind, least, most }: Extract<FieldShape, { readonly least: unknown }>, text: string): Read {
  const pattern = kind === "integer" ? /^[+-]?\d+$/ : /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;
  if (!pattern.test(text)) return fault(kind === "integer" ? "is not a whole number" : "is not a number");
  const value = Number(text);
  if (!Number.isFinite(value) || (kind === "integer" && !Number.isSafeInteger(value))) return fault("is too large a number to be exact");
  if (least !== null && value < least) return fault(`must be at least ${least}`);
  if (most !== null && value > most) return fault(`must be at most ${most}`);
  return { ok: true, value };
}

function readJson(text: string): Read {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return fault(`is not valid JSON: ${(error as Error).message}`);
  }
}

/** What stands for a choice among others, which may be of several types. */
export const choiceText = (choice: unknown): string => (typeof choice === "string" ? choice : JSON.stringify(choice));

/** How a value is written into a field; as JSON where its shape cannot say it. */
export function givenOf(shape: FieldShape, value: unknown): Given {
  const given = plainly(shape, value);
  if (given !== null && isRead(shape, given, value)) return given;
  return { text: JSON.stringify(value, null, 2) ?? "null", ...(shape.kind === "json" ? {} : { json: true as const }) };
}

function plainly({ kind }: FieldShape, value: unknown): Given | null {
  if (kind === "lines") return Array.isArray(value) && value.every((each) => typeof each === "string") ? { text: value.join("\n") } : null;
  if (kind === "choice") return { text: choiceText(value) };
  if (kind === "text") return typeof value === "string" ? { text: value } : null;
  // Of an object no text may be made: it may have a `toString` that is none.
  return kind === "json" || typeof value === "object" ? null : { text: String(value) };
}

function isRead(shape: FieldShape, given: Given, value: unknown): boolean {
  const read = readGiven(shape, given);
  return read.ok && JSON.stringify(read.value) === JSON.stringify(value);
}
