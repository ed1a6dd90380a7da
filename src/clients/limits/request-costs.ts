import type { RequestCost } from "../../endpoint-limits/limit-kinds.ts";
import type { RequestBound } from "../../prices/request-bound.ts";
import { readUsage, record } from "../openai/reply-fields.ts";

/** A request, as far as it tells what it will use. */
export interface Weight {
  readonly model: string;
  /** Of its body, without pictures and sounds. */
  readonly characters: number;
  /** Tokens that its answer has at most; null where nothing bounds it. */
  readonly bound: number | null;
  /** What it can be billed for; asked for where a budget holds. */
  readonly billed: () => RequestBound;
}

/** Tokens of a character before a model's own are known: those of English prose with OpenAI's tokenizers. */
const FIRST_TOKENS_PER_CHARACTER = 0.25;
/** Tokens of an answer that nothing bounds, before one has come. */
const FIRST_OUTPUT_TOKENS = 1_000;
/** Answers that a mean goes back over: prompts of one run are alike, those of the next are others. */
const REMEMBERED = 32;
/** So many times what answers have on average has to be reserved for one before it is worth a difference. */
const RESERVED = 1.5;
/** Models of one place; a request that is passed on may name any. */
const MOST_MODELS = 64;

interface Means {
  answers: number;
  perCharacter: number;
  output: number;
  reserves: boolean;
}

/** Tells what requests of each model will use, from what those before them used. One for all clients of a place. */
export class RequestCosts {
  readonly #means = new Map<string, Means>();

  /** Of an answer, what answers before it had on average, and no more than it may have; or all of that, where the server reserves it. */
  of({ model, characters, bound }: Weight): RequestCost {
    const means = this.#means.get(model);
    const known = means !== undefined && means.answers > 0;
    const output = known && !(means.reserves && bound !== null) ? means.output : (bound ?? FIRST_OUTPUT_TOKENS);
    return {
      input_tokens: Math.ceil(characters * (known ? means.perCharacter : FIRST_TOKENS_PER_CHARACTER)),
      output_tokens: Math.ceil(bound === null ? output : Math.min(bound, output)),
    };
  }

  /** Learns from what the server says that a request used. */
  learn({ model, characters }: Weight, used: RequestCost): void {
    const means = this.#meansOf(model);
    means.answers = Math.min(means.answers + 1, REMEMBERED);
    const part = 1 / means.answers;
    means.perCharacter += part * (used.input_tokens / Math.max(1, characters) - means.perCharacter);
    means.output += part * (used.output_tokens - means.output);
  }

  /**
   * Learns from a refusal what the server took the request for: `requested` tokens. Some take all that its answer may have while it is not there: OpenAI
   * (https://platform.openai.com/docs/guides/rate-limits), Azure (https://learn.microsoft.com/azure/ai-services/openai/how-to/quota) and Cerebras
   * (https://inference-docs.cerebras.ai/support/rate-limits). What it has used in the end stands in `used` all the same.
   */
  refused({ model, bound }: Weight, requested: number): void {
    if (bound === null) return;
    const means = this.#meansOf(model);
    // A prompt alone may be as much, so that an answer's bound has to be the most of it.
    if (requested >= bound && requested <= 2 * bound && bound > RESERVED * means.output) means.reserves = true;
    else if (requested < bound) means.reserves = false;
  }

  #meansOf(model: string): Means {
    const known = this.#means.get(model);
    if (known !== undefined) return known;
    const [oldest] = this.#means.keys();
    if (this.#means.size >= MOST_MODELS && oldest !== undefined) this.#means.delete(oldest);
    const means = { answers: 0, perCharacter: 0, output: 0, reserves: false };
    this.#means.set(model, means);
    return means;
  }
}

/** How a body begins a picture, a sound or a file that it carries; it ends with the JSON string that it stands in. */
const CARRIED = ";base64,";
/** A shorter body is not looked through. */
const WORTH_A_LOOK = 8_192;
/** What a picture counts for: providers ask 85 to 1,600 tokens for one, however many characters it has. */
const CARRIED_CHARACTERS = 4_000;

/** Characters of a body as they count for tokens. */
export function charactersOf(text: string): number {
  let { length } = text;
  if (length < WORTH_A_LOOK) return length;
  for (let at = text.indexOf(CARRIED); at >= 0; at = text.indexOf(CARRIED, at)) {
    const end = text.indexOf('"', at);
    const stop = end < 0 ? text.length : end;
    length -= Math.max(0, stop - at - CARRIED_CHARACTERS);
    at = stop;
  }
  return length;
}

/** What bounds an answer, under each of the routes' names. */
const BOUNDS = ["max_tokens", "max_completion_tokens", "max_output_tokens"] as const;

/** Tokens that the answer to a body has at most; null where nothing bounds it. */
export function boundOf(body: Readonly<Record<string, unknown>>): number | null {
  let bound: number | null = null;
  for (const name of BOUNDS) {
    const value = body[name];
    if (typeof value === "number" && value > 0 && (bound === null || value < bound)) bound = value;
  }
  return bound;
}

/** The largest windows of models, Llama 4 Scout's: what says that it took more says nothing. */
const MOST_TOKENS = 10_000_000;

/** What an answer's `usage` says that it took of a limit; null where it says nothing, or what cannot be. */
export function usedBy(usage: unknown): RequestCost | null {
  const tokens = readUsage(usage);
  if (tokens === null) return null;
  // Anthropic counts what it puts into its cache beside the others, and towards the limit; what it reads there counts towards none.
  const cached = record(usage)?.cache_creation_input_tokens;
  const input_tokens = tokens.prompt_tokens + (typeof cached === "number" && cached > 0 ? cached : 0);
  return Math.max(input_tokens, tokens.completion_tokens) > MOST_TOKENS ? null : { input_tokens, output_tokens: tokens.completion_tokens };
}
