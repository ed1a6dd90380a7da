import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { type ScoringServer, status } from "./scoring-client.ts";

/** A tokenizer and a model for tests: words with the space before them, and log-probabilities by their letters. */
export const wordTokens = (text: string): string[] => text.match(/ ?[^ ]+| +/g) ?? [];
export const wordLogprob = (token: string): number => -((Array.from(token).reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % 97) + 1) / 10;

const promptsOf = (body: JsonObject, field = "prompt"): string[] => {
  const given = body[field];
  return Array.isArray(given) ? (given as string[]) : [String(given)];
};

const lacks = (): Response => status(404, { detail: "Not Found" });

/** What comes back of one text. */
export interface EchoedChoice {
  readonly index: number;
  readonly text: string;
  readonly finish_reason?: string;
  readonly logprobs?: { readonly tokens: readonly string[]; readonly token_logprobs: readonly unknown[]; readonly [field: string]: unknown };
}
export interface EchoAnswer {
  readonly choices: readonly EchoedChoice[];
  readonly [field: string]: unknown;
}

/** vLLM and its like: the prompt comes back before one token of the answer. `bos`: a beginning of text stands first. */
export const echoServer =
  ({ bos = false, change = (answer) => answer }: { bos?: boolean; change?: (answer: EchoAnswer, body: JsonObject) => unknown } = {}): ScoringServer =>
  (path, body) => {
    if (path !== "/v1/completions" || body.echo !== true) return lacks();
    const prompts = promptsOf(body);
    const tops = Number(body.logprobs);
    const choices = prompts.map((prompt, index) => {
      const tokens = [...(bos ? ["<bos>"] : []), ...wordTokens(prompt), " END"];
      return {
        index,
        text: `${prompt} END`,
        finish_reason: "length",
        logprobs: {
          tokens,
          token_logprobs: tokens.map((token, at) => (at === 0 ? null : wordLogprob(token))),
          top_logprobs: tokens.map((token, at) =>
            at === 0
              ? null
              : Object.fromEntries([...Array.from({ length: tops }, (_, rank) => [` top${rank}`, -0.01 * (rank + 1)]), [token, wordLogprob(token)]]),
          ),
          text_offset: tokens.map(() => 0),
        },
      };
    });
    const prompt_tokens = prompts.reduce((sum, prompt) => sum + wordTokens(prompt).length + (bos ? 1 : 0), 0);
    const usage = { prompt_tokens, completion_tokens: prompts.length, total_tokens: prompt_tokens + prompts.length };
    return change({ id: "c", created: 1, model: "m", choices, usage }, body);
  };

/** One that knows `prompt_logprobs` alone; alternatives stand in the order of their ids, as a JSON object has them. */
export const promptLogprobsServer: ScoringServer = (path, body) => {
  if (path !== "/v1/completions") return lacks();
  if (body.echo === true) return status(400, { error: { message: "echo is not supported" } });
  const count = Number(body.prompt_logprobs);
  const choices = promptsOf(body).map((prompt, index) => ({
    index,
    text: " END",
    prompt_logprobs: wordTokens(prompt).map((token, at) =>
      at === 0
        ? null
        : Object.fromEntries([
            [1000 + at, { logprob: wordLogprob(token), rank: 7, decoded_token: token }],
            ...Array.from({ length: count }, (_, rank) => [rank + 1, { logprob: -0.01 * (rank + 1), rank: rank + 1, decoded_token: ` top${rank}` }]),
          ]),
    ),
  }));
  return { choices, usage: { prompt_tokens: 9, completion_tokens: choices.length, total_tokens: 9 + choices.length } };
};

/** SGLang's native route. */
export const sglangServer: ScoringServer = (path, body) => {
  if (path !== "/generate") return path === "/v1/completions" ? status(400, { message: "logprobs of the prompt are not given here" }) : lacks();
  const answers = promptsOf(body, "text").map((prompt) => {
    const tokens = wordTokens(prompt);
    return {
      text: " END",
      meta_info: {
        prompt_tokens: tokens.length,
        completion_tokens: 1,
        input_token_logprobs: tokens.map((token, at) => [at === 0 ? null : wordLogprob(token), 100 + at, token]),
        input_top_logprobs: tokens.map((_, at) =>
          at === 0 ? null : Array.from({ length: Number(body.top_logprobs_num) }, (_, rank) => [-0.01 * (rank + 1), rank, ` top${rank}`]),
        ),
      },
    };
  });
  return Array.isArray(body.text) ? answers : answers[0];
};

/** llama.cpp's own: it refuses `echo` with a server error, and draws what the bias says. */
export function llamaCppServer(): ScoringServer {
  const ids = new Map<string, number>();
  const idOf = (token: string): number => {
    if (!ids.has(token)) ids.set(token, ids.size + 10);
    return ids.get(token) ?? 0;
  };
  return (path, body) => {
    if (path === "/v1/completions")
      return body.echo === true
        ? status(500, { error: { code: 500, message: "Only no echo is supported", type: "server_error" } })
        : { choices: [{ index: 0, text: "x" }] };
    if (path === "/tokenize") return { tokens: wordTokens(String(body.content)).map((piece) => ({ id: idOf(piece), piece })) };
    if (path !== "/completion") return lacks();
    const [[id = 0] = []] = body.logit_bias as number[][];
    const token = [...ids].find(([, known]) => known === id)?.[0] ?? "";
    return {
      content: token,
      completion_probabilities: [{ id, token, logprob: wordLogprob(token), top_logprobs: [{ id: 1, token: " top0", logprob: -0.01 }] }],
    };
  };
}

/** Passes over `echo`: log-probabilities of its own answer alone. */
export const deafServer: ScoringServer = (path, body) =>
  path === "/v1/completions"
    ? {
        choices: promptsOf(body).map((_, index) => ({
          index,
          text: " END",
          logprobs: { tokens: [" END"], token_logprobs: [-0.1], top_logprobs: [{}], text_offset: [0] },
        })),
        usage: { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 },
      }
    : lacks();
