import type { PromptToken, Usage } from "../../rollouts/types.ts";
import { type Fields, readUsage, record, records, text as textOf } from "../openai/reply-fields.ts";
import { isLogprob, readScore, type SaidToken, unusable } from "./read-scores.ts";
import type { ScoringDriver } from "./scoring-driver.ts";

/** SGLang's native route, which gives what each token of the input was given, as `[logprob, id, text]`. It serves one model, and is asked for none by name. */
export const sglangDriver: ScoringDriver = {
  route: "sglang_generate",
  asks: "`return_logprob` on /generate",
  takesSeveral: true,
  below: "server",
  async score(post, { top, texts }) {
    const answer = await post("/generate", () => {
      const prompts = texts();
      return {
        text: prompts.length === 1 ? (prompts[0] ?? "") : [...prompts],
        sampling_params: { max_new_tokens: 1, temperature: 0 },
        return_logprob: true,
        logprob_start_len: 0,
        top_logprobs_num: top,
        return_text_in_logprobs: true,
      };
    });
    const prompts = texts();
    // A text alone is answered alone.
    const answers = Array.isArray(answer) ? records(answer) : [record(answer) ?? {}];
    if (answers.length !== prompts.length) throw unusable(`${answers.length} answers came for ${prompts.length} texts`);
    const infos = answers.map(({ meta_info }) => record(meta_info) ?? {});
    return { usage: sumOf(infos), scores: prompts.map((prompt, at) => ({ tokens: readScore(prompt, saidIn(infos[at] ?? {}, top), 0) })) };
  },
};

function saidIn({ input_token_logprobs: own, input_top_logprobs: tops }: Fields, top: number): readonly SaidToken[] {
  if (!Array.isArray(own)) throw unusable("the answer has no `input_token_logprobs`");
  return own.map((entry: unknown, at): SaidToken => {
    const { logprob, id, text } = entryOf(entry);
    const alternatives = top > 0 && at > 0 && Array.isArray(tops) ? topOf(tops[at], top) : undefined;
    return { text, logprob, ...(id === undefined ? {} : { id }), ...(alternatives === undefined ? {} : { top: alternatives }) };
  });
}

function entryOf(entry: unknown): { readonly logprob: unknown; readonly id: number | undefined; readonly text: string } {
  const [logprob, id, text] = Array.isArray(entry) ? (entry as unknown[]) : [];
  return { logprob, id: typeof id === "number" ? id : undefined, text: textOf(text) };
}

function topOf(place: unknown, count: number): PromptToken["top"] {
  if (!Array.isArray(place)) return undefined;
  return place
    .map(entryOf)
    .flatMap(({ text, logprob }) => (isLogprob(logprob) ? [{ text, logprob: Math.min(0, logprob) }] : []))
    .sort((a, b) => b.logprob - a.logprob)
    .slice(0, count);
}

/** Null where one of them says nothing. */
function sumOf(infos: readonly Fields[]): Usage | null {
  const each = infos.map(readUsage);
  return each.reduce(
    (sum, usage) =>
      sum === null || usage === null
        ? null
        : {
            prompt_tokens: sum.prompt_tokens + usage.prompt_tokens,
            reasoning_tokens: 0,
            completion_tokens: sum.completion_tokens + usage.completion_tokens,
            total_tokens: sum.total_tokens + usage.total_tokens,
          },
    { prompt_tokens: 0, reasoning_tokens: 0, completion_tokens: 0, total_tokens: 0 } as Usage | null,
  );
}
