import type { PromptToken } from "../../rollouts/types.ts";
import { type Fields, readUsage, record, records, text as textOf } from "../openai/reply-fields.ts";
import { isLogprob, readScore, type SaidToken, unusable } from "./read-scores.ts";
import type { ScoringDriver } from "./scoring-driver.ts";

/** OpenAI's completions route with `echo` and `logprobs`: the prompt comes back in front of the answer, with what each of its tokens was given. */
export const echoDriver: ScoringDriver = {
  route: "echo",
  asks: "`echo` with `logprobs` on /completions",
  takesSeveral: true,
  below: "api",
  async score(post, { model, top, texts }) {
    const answer = await post("/completions", () => {
      const prompts = texts();
      // One token is asked for and dropped: some servers give nothing for none.
      return { model, prompt: prompts.length === 1 ? (prompts[0] ?? "") : [...prompts], max_tokens: 1, temperature: 0, echo: true, logprobs: Math.max(1, top) };
    });
    const usage = readUsage(record(answer)?.usage);
    const prompts = texts();
    const choices = choicesOf(answer, prompts.length);
    // Each choice has one token of its own, or each has none; where it differs it is not known whose it is.
    const made = usage === null ? null : usage.completion_tokens === prompts.length ? 1 : usage.completion_tokens === 0 ? 0 : null;
    return { usage, scores: prompts.map((prompt, at) => ({ tokens: readScore(prompt, saidIn(choices[at] ?? {}, top), made) })) };
  },
};

/** One choice for each text, in their order whatever the order of the answer. */
export function choicesOf(answer: unknown, count: number): readonly Fields[] {
  const choices = records(record(answer)?.choices);
  if (choices.length !== count) throw unusable(`the answer has ${choices.length} choices for ${count} ${count === 1 ? "text" : "texts"}`);
  const placed: Fields[] = [];
  for (const [at, choice] of choices.entries()) placed[typeof choice.index === "number" ? choice.index : at] = choice;
  if (Object.keys(placed).length !== count || placed.length !== count) throw unusable("the answer's choices do not have one index each");
  return placed;
}

function saidIn(choice: Fields, top: number): readonly SaidToken[] {
  const { tokens, token_logprobs, top_logprobs } = record(choice.logprobs) ?? {};
  if (!Array.isArray(tokens) || !Array.isArray(token_logprobs)) throw unusable("the answer has no log-probabilities");
  if (tokens.length !== token_logprobs.length) throw unusable(`the answer has ${tokens.length} tokens and ${token_logprobs.length} log-probabilities`);
  return tokens.map((token, at) => {
    const alternatives = top > 0 && Array.isArray(top_logprobs) ? topOf(top_logprobs[at], top) : undefined;
    return { text: textOf(token), logprob: token_logprobs[at] as unknown, ...(alternatives === undefined ? {} : { top: alternatives }) };
  });
}

/** The token itself stands among them where it is none of the most probable, and is then one too many. */
function topOf(raw: unknown, count: number): PromptToken["top"] {
  const given = record(raw);
  if (given === null) return undefined;
  const entries = Object.entries(given).flatMap(([text, logprob]) => (isLogprob(logprob) ? [{ text, logprob: Math.min(0, logprob) }] : []));
  return entries.sort((a, b) => b.logprob - a.logprob).slice(0, count);
}
