import { parseShallow } from "../json-depth.ts";
import { issueText } from "../issue-text.ts";
import type { Option } from "./option.ts";
import { OPTIONS, type OptionName } from "./options.ts";

export type ParsedOption = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly msg: string };

/** Reads the text that follows a flag. Messages name what is wrong with the value, not the flag. */
export function parseOptionText(name: OptionName, text: string): ParsedOption {
  const { kind, schema }: Option = OPTIONS[name];
  const raw = rawValue(kind, text);
  if (!raw.ok) return raw;
  const parsed = schema.safeParse(raw.value);
  return parsed.success
    ? { ok: true, value: parsed.data }
    : {
        ok: false,
        msg: parsed.error.issues
          .map((issue) => [...(kind === "table" ? [] : [issue.path.join(".")]), issueText(issue)].filter((part) => part !== "").join(" "))
          .join("; "),
      };
}

function rawValue(kind: Option["kind"], text: string): ParsedOption {
  switch (kind) {
    case "integer":
      return /^[+-]?\d+$/.test(text) ? { ok: true, value: Number(text) } : { ok: false, msg: `not a whole number: ${JSON.stringify(text)}` };
    case "number":
      return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(text)
        ? { ok: true, value: Number(text) }
        : { ok: false, msg: `not a number: ${JSON.stringify(text)}` };
    case "json":
      return parseJson(text);
    case "list":
      return {
        ok: true,
        value: text
          .split(",")
          .map((item) => item.trim())
          .filter((item) => item !== ""),
      };
    case "table":
      return { ok: true, value: [text] };
    case "switch":
      return { ok: true, value: true };
    default:
      return { ok: true, value: text };
  }
}

function parseJson(text: string): ParsedOption {
  try {
    return { ok: true, value: parseShallow(text) };
  } catch (error) {
    return { ok: false, msg: `not valid JSON: ${(error as Error).message}` };
  }
}
