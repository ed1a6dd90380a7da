import type { RequestCost } from "../../endpoint-limits/limit-kinds.ts";
import { readUsage, record } from "../openai/reply-fields.ts";

/** A request, as far as it tells what it will use. */
export interface Weight {
  readonly model: string;
  /** Of its body, without pictures and sounds. */
  readonly characters: number;
  /** Tokens that its answer has at most; null where nothing bounds it. */
  readonly bound: number | null;
}

/** Tokens of a character before a model's own are known: those of English prose with OpenAI's tokenizers. */
const FIRST_TOKENS_PER_CHARACTER = 0.25;
/** Tokens of an answer that nothing bounds, before one has come. */
const FIRST_OUTPUT_TOKENS = 1_000;
/** Answers that a mean goes back over: prompts of one run are alike, those of the next are others. */
const REMEMBERED = 32;
/** Models of one place; a request that is passed on may name any. */
const MOST_MODELS = 64;

interface Means {
  answers: number;
  perCharacter: number;
  output: number;
}

/** Tells what requests of each model will use, from what those before them used. One for all clients of a place. */
export class RequestCosts {
  readonly #means = new Map<string, Means>();

  /** Of an answer, what answers before it had on average, and no more than it may have. */
  of({ model, characters, bound }: Weight): RequestCost {
    const means = this.#means.get(model);
    const output = means?.output ?? (bound === null ? FIRST_OUTPUT_TOKENS : bound);
    return {
      input_tokens: Math.ceil(characters * (means?.perCharacter ?? FIRST_TOKENS_PER_CHARACTER)),
      output_tokens: Math.ceil(bound === null ? output : Math.min(bound, output)),
    };
  }

  learn({ model, characters }: Weight, used: RequestCost): void {
    let means = this.#means.get(model);
    if (means === undefined) {
      const [oldest] = this.#means.keys();
      if (this.#means.size >= MOST_MODELS && oldest !== undefined) this.#means.delete(oldest);
      means = { answers: 0, perCharacter: 0, output: 0 };
      this.#means.set(model, means);
    }
    means.answers = Math.min(means.answers + 1, REMEMBERED);
    const part = 1 / means.answers;
    means.perCharacter += part * (used.input_tokens / Math.max(1, characters) - means.perCharacter);
    means.output += part * (used.output_tokens - means.output);
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

/** What an answer's `usage` says that it took of a limit; null where it says nothing. */
export function usedBy(usage: unknown): RequestCost | null {
  const tokens = readUsage(usage);
  if (tokens === null) return null;
  // Anthropic counts what it puts into its cache beside the others, and towards the limit; what it reads there counts towards none.
  const cached = record(usage)?.cache_creation_input_tokens;
  return { input_tokens: tokens.prompt_tokens + (typeof cached === "number" && cached > 0 ? cached : 0), output_tokens: tokens.completion_tokens };
}
