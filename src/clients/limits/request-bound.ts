import type { JsonObject } from "../../config/plan/run-config.ts";
import { CACHE_WRITE, LONG_CACHE_WRITE } from "../../prices/price.ts";
import type { RequestBound } from "../../prices/request-bound.ts";
import { record, records } from "../openai/reply-fields.ts";

/**
 * What a server adds to a request by itself: the template of a chat, what tells a model of its tools. The most that is published are Anthropic's 804 tokens of a
 * tool choice (https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview#pricing).
 */
const ADDED_TOKENS = 1_024;
/**
 * A picture, however large: GPT-4o mini takes 2,833 tokens and 5,667 for each tile, of which a picture that was scaled to 768 x 2,048 has eight
 * (https://platform.openai.com/docs/guides/images-vision#calculating-costs); all others take a tenth of that.
 */
const PICTURE_TOKENS = 50_000;
/** A document or a film: Anthropic takes up to 100 pages, of 1,500 to 3,000 tokens and a picture each (https://platform.claude.com/docs/en/build-with-claude/pdf-support). */
const FILE_TOKENS = 500_000;

/** Parts of messages, by their `type`. A sound counts by its bytes, which are more than its tokens even at the price of those. */
const PICTURES: readonly unknown[] = ["image_url", "input_image", "image"];
const FILES: readonly unknown[] = ["file", "input_file", "document", "audio_url", "video", "video_url", "input_video"];

/** Of the chat route, Anthropic's and the completions route; where a body has several a server may know but one of them. */
const BOUNDS = ["max_tokens", "max_completion_tokens"] as const;
/** The Responses route knows this one alone, and many servers of the others pass over it, as over all that they do not know. */
const RESPONSES_BOUNDS = ["max_output_tokens"] as const;
/** Fields by which a server adds to a request what is not in it, asks another model (OpenRouter's `models`), or is paid for more than tokens (xAI's `search_parameters`). */
const OPEN = [
  ...["previous_response_id", "conversation", "web_search_options", "search_parameters", "plugins", "mcp_servers", "container", "prediction", "audio"],
  "models",
] as const;
/** How many answers are asked for at once. */
const ANSWERS = ["n", "best_of"] as const;
/** By the prices of the usual tier, or cheaper; others may cost twice as much and more (https://platform.openai.com/docs/pricing). */
const PRICED_TIERS: readonly unknown[] = [undefined, null, "auto", "default", "standard", "standard_only", "on_demand", "flex"];
/** What else a tool may be that its caller answers. */
const OWN_TOOLS: readonly unknown[] = [undefined, null, "function", "custom"];

const LONG_CACHE = /"ttl":\s*"1h"/;

const utf8 = new TextEncoder();

/**
 * The most that a request can be billed for: a token is at least one byte of what is sent. `text`: `body` as it is sent; `writesCache`: whether its server may keep
 * the prompt, and be paid for it, unasked.
 */
export function requestBound(model: string, text: string, body: JsonObject, writesCache: boolean): RequestBound {
  const carried = { pictures: 0, files: 0, characters: 0 };
  look(body, carried);
  const bytes = utf8.encode(text).length - carried.characters;
  const caches = writesCache || text.includes('"cache_control"');
  return {
    model,
    input_tokens: bytes + ADDED_TOKENS + carried.pictures * PICTURE_TOKENS + carried.files * FILE_TOKENS,
    input_rate: !caches ? 1 : LONG_CACHE.test(text) ? LONG_CACHE_WRITE : CACHE_WRITE,
    output_tokens: outputTokens(body),
    open: openField(body),
  };
}

/** Of all answers together that are asked for at once. */
function outputTokens(body: JsonObject): number | null {
  const { input, messages, prompt } = body;
  // Of which route a body with fields of several is does not show in it.
  const routes = [
    ...(input === undefined ? [] : [RESPONSES_BOUNDS]),
    ...(input !== undefined && messages === undefined && prompt === undefined ? [] : [BOUNDS]),
  ];
  const bounds = routes.map((names) => names.map((name) => body[name]).filter(isAmount));
  if (bounds.some(({ length }) => length === 0)) return null;
  const prompts = Array.isArray(prompt) && prompt.some((each) => typeof each !== "number") ? prompt.length : 1;
  return Math.max(...bounds.flat()) * prompts * Math.max(1, ...ANSWERS.map((name) => body[name]).filter(isAmount));
}

const isAmount = (value: unknown): value is number => typeof value === "number" && Number.isFinite(value) && value >= 0;

function openField(body: JsonObject): string | null {
  const field = OPEN.find((name) => body[name] !== undefined && body[name] !== null);
  if (field !== undefined) return field;
  if (!PRICED_TIERS.includes(body.service_tier)) return "service_tier";
  // A template that its server keeps, with text, tools and a model of its own.
  if (record(body.prompt) !== null) return "prompt";
  // Servers that take "8" for 8 answer eight times.
  const count = ANSWERS.find((name) => body[name] !== undefined && body[name] !== null && !isAmount(body[name]));
  if (count !== undefined) return count;
  const tool = records(body.tools).find(({ type }) => !OWN_TOOLS.includes(type));
  return tool === undefined ? null : `the tool ${JSON.stringify(tool.type)}`;
}

interface Carried {
  pictures: number;
  files: number;
  /** Of pictures, in base64. */
  characters: number;
}

function look(value: unknown, carried: Carried): void {
  if (Array.isArray(value)) for (const each of value) look(each, carried);
  const fields = record(value);
  if (fields === null) return;
  const isPicture = PICTURES.includes(fields.type);
  if (isPicture) {
    carried.pictures++;
    carried.characters += dataOf(fields.image_url) + dataOf(record(fields.image_url)?.url) + dataOf(record(fields.source)?.data);
  }
  if (FILES.includes(fields.type)) carried.files++;
  // Of what a picture holds nothing else is a part of a message.
  if (!isPicture) for (const each of Object.values(fields)) if (typeof each === "object" && each !== null) look(each, carried);
}

/** Characters of base64 in a data URL, or that stand for themselves; any others are text. */
const BASE64 = /^(?:data:[\w.+-]+\/[\w.+-]+;base64,)?([A-Za-z0-9+/]{64,}={0,2})$/;
const dataOf = (value: unknown): number => (typeof value === "string" ? (BASE64.exec(value)?.[1]?.length ?? 0) : 0);
