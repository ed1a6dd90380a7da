import type { PromptToken, Usage } from "../../rollouts/types.ts";
import { record, records, text as textOf } from "../openai/reply-fields.ts";
import { isLogprob, readScore, type SaidToken, unusable } from "./read-scores.ts";
import type { ScoringDriver } from "./scoring-driver.ts";

/** More than any two logits differ by: the token that it is added to is the one that is drawn. */
const FORCED = 10_000;
/** A request for each token of a text. */
const MOST_TOKENS = 2_048;

/**
 * llama.cpp's own server gives log-probabilities of tokens that it makes and of no others. So it is made to make each token of the text in its
 * turn: it draws the next one with a bias that leaves no choice, and says what the model gave it without the bias. One request a token; the
 * server keeps what it has read of the prompt.
 */
export const llamaCppDriver: ScoringDriver = {
  route: "llama_cpp_forcing",
  asks: "`n_probs` on /completion, token by token",
  takesSeveral: false,
  below: "server",
  async score(post, { top, texts }) {
    const [text = ""] = texts();
    const pieces = piecesOf(await post("/tokenize", () => ({ content: text, add_special: true, with_pieces: true })));
    if (pieces.length > MOST_TOKENS) throw unusable(`the text has ${pieces.length} tokens, and this server is asked for each; at most ${MOST_TOKENS}`);
    const usage: Usage = { prompt_tokens: pieces.length, reasoning_tokens: 0, completion_tokens: 0, total_tokens: pieces.length };
    const said: SaidToken[] = [];
    for (const [at, { id, text: written }] of pieces.entries()) {
      if (at === 0) {
        said.push({ text: written, logprob: null, id });
        continue;
      }
      const prompt = pieces.slice(0, at).map((piece) => piece.id);
      const answer = await post("/completion", () => ({
        prompt,
        n_predict: 1,
        n_probs: Math.max(1, top),
        logit_bias: [[id, FORCED]],
        temperature: 0,
        cache_prompt: true,
        stream: false,
      }));
      usage.completion_tokens++;
      usage.total_tokens++;
      const { logprob, alternatives } = drawn(answer, id);
      said.push({ text: written, logprob, id, ...(top > 0 ? { top: alternatives.slice(0, top) } : {}) });
    }
    return { usage, scores: [{ tokens: readScore(text, said, 0) }] };
  },
};

/** A piece that is no text of its own is a list of bytes. */
function piecesOf(answer: unknown): readonly { readonly id: number; readonly text: string }[] {
  const { tokens } = record(answer) ?? {};
  if (!Array.isArray(tokens) || tokens.length === 0) throw unusable("/tokenize gave no tokens");
  return tokens.map((token: unknown) => {
    const { id, piece } = record(token) ?? {};
    if (typeof id !== "number") throw unusable("/tokenize gave a token without an id");
    return { id, text: Array.isArray(piece) ? "\ufffd" : textOf(piece) };
  });
}

function drawn(answer: unknown, id: number): { readonly logprob: unknown; readonly alternatives: NonNullable<PromptToken["top"]> } {
  const [first] = records(record(answer)?.completion_probabilities);
  if (first === undefined) throw unusable("the answer has no `completion_probabilities`");
  if (first.id !== id) throw unusable(`the server drew token ${JSON.stringify(first.id) ?? "without an id"} where ${id} was forced`);
  const alternatives = records(first.top_logprobs).flatMap(({ token, logprob }) =>
    isLogprob(logprob) ? [{ text: textOf(token), logprob: Math.min(0, logprob) }] : [],
  );
  return { logprob: first.logprob, alternatives: alternatives.sort((a, b) => b.logprob - a.logprob) };
}
