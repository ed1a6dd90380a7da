import { nearest } from "../config/nearest.ts";
import { record, records } from "./openai/reply-fields.ts";

/** What a server says of itself where it does not know a model, and which address it may be meant by. Pure: `HttpClient` asks. */
export interface Looked {
  /** Names of the models at the address; null when it lists none. */
  readonly offered: readonly string[] | null;
  /** The base URL under which the list is instead; null where it was not found elsewhere. */
  readonly elsewhere: string | null;
}

/** Names in a list of models in the form of OpenAI's and Anthropic's routes; null for anything else. */
export function modelNames(answer: unknown): readonly string[] | null {
  const { data } = record(answer) ?? {};
  if (!Array.isArray(data)) return null;
  return records(data).flatMap(({ id }) => (typeof id === "string" && id !== "" ? [id] : []));
}

/** Base URLs that `base` may have meant: without the route that was pasted with it, and with the version that most have. */
export function likelyBases(base: string): readonly string[] {
  const whole = base.replace(/\/+$/, "");
  const bare = whole.replace(/\/(chat\/completions|completions|responses|models|messages)$/, "");
  const versioned = /\/v\d+\w*$/.test(bare) ? bare : `${bare}/v1`;
  return [...new Set([bare, versioned])].filter((each) => each !== whole);
}

const MOST_NAMED = 8;

/** What to type, for a model that the server at `base` does not know; null when it does not help with that. */
export function modelAdvice(model: string, { offered, elsewhere }: Looked): string | null {
  if (offered === null) return elsewhere === null ? null : `its API is at ${elsewhere}: add -b ${elsewhere}`;
  if (offered.length === 0) return "it lists no models at all: load one there";
  if (offered.includes(model)) return `it lists the model ${model}: the key may not use it, or another route serves it (--api-client-type)`;
  const close = nearestModel(model, offered);
  const rest = offered.length > MOST_NAMED ? ` and ${offered.length - MOST_NAMED} more` : "";
  const named = [...new Set([...(close === null ? [] : [close]), ...offered])].slice(0, MOST_NAMED).join(", ");
  return `${close === null ? "" : `did you mean -m ${close}? `}It offers ${named}${rest}`;
}

/** By its letters, or by its name without the owner in front. */
function nearestModel(model: string, offered: readonly string[]): string | null {
  const bare = (name: string): string => (name.split("/").at(-1) ?? name).toLowerCase();
  return offered.find((name) => bare(name) === bare(model)) ?? nearest(model, offered);
}
