import { parseUrl } from "../config/endpoints/addresses.ts";
import { EMBEDDED_BASE_URL, type ProviderName, providerOfHost, WORKERS_AI_BASE_URL } from "../config/endpoints/providers.ts";
import type { Bound, Limited } from "./bound.ts";
import type { LimitKind } from "./limit-kinds.ts";

/** How endpoints and their limits are worded for people. */

const PROVIDER_TITLES: Readonly<Record<ProviderName, string | null>> = {
  prime: "Prime",
  embedded: null,
  openrouter: "OpenRouter",
  openai: "OpenAI",
  anthropic: "Anthropic",
  minimax: "MiniMax",
  deepseek: "DeepSeek",
  glm: "GLM",
  local: null,
  vllm: null,
};

/** Of places that have no short name here, by how their hosts end. */
const HOST_TITLES: readonly (readonly [end: string, title: string])[] = [
  [".openai.azure.com", "Azure OpenAI"],
  [".googleapis.com", "Google"],
  [".mistral.ai", "Mistral"],
  [".groq.com", "Groq"],
  [".together.xyz", "Together"],
];

/** What people call who serves a base URL: a provider's name, else its host with the port. */
export function placeTitle(baseUrl: string): string {
  if (baseUrl === EMBEDDED_BASE_URL) return "the embedded model";
  if (baseUrl === WORKERS_AI_BASE_URL) return "Workers AI";
  const url = parseUrl(baseUrl);
  if (url === null) return baseUrl;
  const provider = providerOfHost(url.hostname);
  const titled = provider === null ? null : PROVIDER_TITLES[provider];
  return titled ?? HOST_TITLES.find(([end]) => url.hostname.endsWith(end))?.[1] ?? url.host;
}

const UNITS: Readonly<Record<LimitKind, string>> = {
  concurrent: "requests at once",
  requests: "requests a minute",
  tokens: "tokens a minute",
  input_tokens: "input tokens a minute",
  output_tokens: "output tokens a minute",
};

const counted = (limit: number): string => Math.round(limit).toLocaleString("en-US");

/** `500 requests a minute`. */
export const limitText = (kind: LimitKind, limit: number): string =>
  `${counted(limit)} ${Math.round(limit) === 1 ? UNITS[kind].replace(/s (?=at once|a minute)/, " ") : UNITS[kind]}`;

/** What is waited for, behind "waiting for": `OpenAI's 500 requests a minute`. */
export function boundText({ bound, base_url, judges }: Limited): string {
  const place = placeTitle(base_url);
  return `${waitedFor(bound, place)}${judges === true ? " (its judges)" : ""}`;
}

function waitedFor({ kind, limit, source }: Bound, place: string): string {
  if (kind === "down") return `${place}, which does not answer`;
  if (kind === "budget") return "money of its budget";
  if (kind === "pause") return `${place}, which asked to be left alone`;
  if (kind === "start") return limit === null ? `first answers of ${place}` : `first answers of ${place}, ${limitText("concurrent", limit)}`;
  if (limit === null) return `${place}'s limit of ${UNITS[kind]}`;
  const text = limitText(kind, limit);
  switch (source) {
    case "common":
      return `the ${text} that the evaluations of its command have together`;
    case "given":
      return `the ${text} given for ${place}`;
    case "found":
      return `${place}'s limit of about ${text}`;
    default:
      return `${place}'s ${text}`;
  }
}

/** The same bound with other numbers of what was found is no other reason. */
export function reasonOf({ bound, base_url, judges }: Limited): string {
  const { kind, limit, source } = bound;
  return JSON.stringify([base_url, judges === true, kind, source, source === "found" || source === null ? null : limit]);
}
