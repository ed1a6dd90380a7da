import { z } from "zod";
import type { EmbeddedModel } from "../embedded-model/model.ts";
import { type AnswerHead, type AnswerShape, textOf, usageObject } from "./answer-shape.ts";
import type { Prompt, ScoredToken } from "./answers.ts";
import { completionLogprobs, lengthOf } from "./log-probabilities.ts";
import { badRequest } from "./openai-error.ts";
import { promptOf } from "./prompts.ts";
import { DEMONSTRATION_FIELDS, integer, parseRequest, SAMPLING_FIELDS } from "./request-fields.ts";

/** The route `/completions`. */

/** OpenAI's default of this route. */
const DEFAULT_MAX_TOKENS = 16;

const ids = z.array(z.int());
const isIds = (list: readonly unknown[]): list is readonly number[] => list.every((item) => typeof item === "number");

/** Texts or token ids, one prompt or several; none is the empty text. */
const prompt = z
  .union(
    [z.string(), z.array(z.string()).min(1), ids.min(1), z.array(ids.min(1)).min(1)],
    "expected a text, a list of token ids, or a list of either that is not empty",
  )
  .nullish()
  .transform((given): readonly (string | readonly number[])[] => {
    if (typeof given === "string" || given === null || given === undefined) return [given ?? ""];
    return isIds(given) ? [given] : given;
  });

const FIELDS = {
  ...SAMPLING_FIELDS,
  ...DEMONSTRATION_FIELDS,
  prompt,
  max_tokens: integer(0)
    .nullish()
    .transform((given) => given ?? DEFAULT_MAX_TOKENS),
  echo: z
    .boolean()
    .nullish()
    .transform((given) => given ?? false),
  logprobs: integer(0, 5)
    .nullish()
    .transform((given) => given ?? null),
};

export type CompletionRequest = z.infer<z.ZodObject<typeof FIELDS>>;

export const parseCompletion = (body: unknown): CompletionRequest => parseRequest(FIELDS, body);

export const completionPrompts = (model: EmbeddedModel, request: CompletionRequest): readonly Prompt[] =>
  request.prompt.map((item) => (typeof item === "string" ? promptOf(model, item) : idsPrompt(model, item)));

function idsPrompt({ vocabulary }: EmbeddedModel, list: readonly number[]): Prompt {
  const wrong = list.find((id) => id < 0 || id >= vocabulary.size);
  if (wrong === undefined) return { ids: list, texts: list.map((id) => vocabulary.text(id)) };
  throw badRequest(`Invalid 'prompt': there is no token ${wrong}; token ids are 0 to ${vocabulary.size - 1}.`, "prompt", "invalid_value");
}

/** OpenAI's `text_completion`, whole or streamed. */
export class CompletionShape implements AnswerShape {
  readonly #model: EmbeddedModel;
  readonly #head: AnswerHead;
  readonly #request: CompletionRequest;
  /** Characters of each choice's text before what is streamed next, the prompt included. */
  readonly #offsets: number[];

  constructor(model: EmbeddedModel, head: AnswerHead, request: CompletionRequest, prompts: readonly Prompt[]) {
    this.#model = model;
    this.#head = head;
    this.#request = request;
    this.#offsets = prompts.flatMap(({ texts }) => Array.from({ length: request.n }, () => (request.echo ? 0 : lengthOf(texts.join("")))));
  }

  whole: AnswerShape["whole"] = (choices, usage) => ({
    ...this.#named(),
    choices: choices.map(({ tokens, finish }, index) => this.#choice(index, tokens, finish)),
    usage: usageObject(usage),
  });

  begin = null;
  token: AnswerShape["token"] = (index, token) => this.#chunk(this.#choice(index, [token], null));
  end: AnswerShape["end"] = (index, finish) => this.#chunk({ text: "", index, logprobs: null, finish_reason: finish });
  usage: AnswerShape["usage"] = (usage) => ({ ...this.#named(), choices: [], usage: usageObject(usage) });

  #choice(index: number, tokens: readonly ScoredToken[], finish: string | null): object {
    const { logprobs } = this.#request;
    const text = textOf(tokens);
    const offset = this.#offsets[index] ?? 0;
    this.#offsets[index] = offset + lengthOf(text);
    return { text, index, logprobs: logprobs === null ? null : completionLogprobs(this.#model, tokens, logprobs, offset), finish_reason: finish };
  }

  #chunk(choice: object): object {
    return { ...this.#named(), choices: [choice], ...(this.#request.stream_options?.include_usage === true ? { usage: null } : {}) };
  }

  #named(): object {
    const { id, created, model, system_fingerprint } = this.#head;
    return { id, object: "text_completion", created, model, system_fingerprint };
  }
}
