import { callsOf, isObject, type RowCall, type RowMessage } from "../../../cells/row-messages.ts";

/** A part of a message as it is shown; `at`: its number in the content. */
export type ShownPart = { readonly at: number } & (
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "media"; readonly what: string; readonly image: string | null }
  | { readonly kind: "other"; readonly value: unknown }
);

/** A message of any library, read for being shown: nothing of it is lost. */
export interface ShownMessage {
  readonly role: string;
  readonly parts: readonly ShownPart[];
  readonly reasoning: string;
  readonly calls: readonly RowCall[];
  /** Every other field. */
  readonly others: Readonly<Record<string, unknown>>;
}

const SHOWN: ReadonlySet<string> = new Set(["role", "content", "reasoning_content", "reasoning", "tool_calls", "tool_call_id"]);
/** Images that are drawn when somebody asks: pictures that can do nothing, and stand in the row itself. */
const IMAGE = /^data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=]+$/;

export function shownMessage({ message }: RowMessage): ShownMessage {
  const parts = partsOf(message.content);
  const reasoning = [message.reasoning_content, message.reasoning].find((each) => typeof each === "string" && each !== "");
  return {
    role: typeof message.role === "string" ? message.role : "?",
    parts,
    reasoning: typeof reasoning === "string" ? reasoning : "",
    calls: callsOf(message),
    others: Object.fromEntries(Object.entries(message).filter(([name, value]) => !SHOWN.has(name) && value !== null && value !== undefined)),
  };
}

function partsOf(content: unknown): readonly ShownPart[] {
  if (content === null || content === undefined || content === "") return [];
  if (typeof content === "string") return [{ at: 0, kind: "text", text: content }];
  return Array.isArray(content) ? content.map(partOf) : [{ at: 0, kind: "other", value: content }];
}

function partOf(part: unknown, at: number): ShownPart {
  if (typeof part === "string") return { at, kind: "text", text: part };
  if (!isObject(part)) return { at, kind: "other", value: part };
  if (typeof part.text === "string") return { at, kind: "text", text: part.text };
  if (part.type === "image_url") {
    const url = isObject(part.image_url) ? part.image_url.url : part.image_url;
    if (typeof url === "string") return { at, kind: "media", what: imageText(url), image: IMAGE.test(url) ? url : null };
  }
  if (part.type === "input_audio" && isObject(part.input_audio)) {
    const { format, data } = part.input_audio;
    const [kind, bytes] = [format, data].map((each) => (typeof each === "string" ? each : ""));
    return { at, kind: "media", what: `Audio, ${kind === "" ? "?" : kind?.slice(0, 40)}, ${sizeText(bytes ?? "")}`, image: null };
  }
  return { at, kind: "other", value: part };
}

function imageText(url: string): string {
  const [, type = ""] = /^data:([a-z]+\/[a-z0-9.+-]+)/i.exec(url.slice(0, 100)) ?? [];
  return type === "" ? `Image at ${url.slice(0, 500)}` : `Image, ${type}, ${sizeText(url)}`;
}

const sizeText = (base64: string): string => `${Math.max(1, Math.round((base64.length * 3) / 4 / 1_024))} KiB`;
