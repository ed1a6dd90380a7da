import type { PromptToken } from "../../rollouts/types.ts";
import { type Fields, readUsage, record, text as textOf } from "../openai/reply-fields.ts";
import { choicesOf } from "./echo.ts";
import { placeTokens } from "./place-tokens.ts";
import { isLogprob, readScore, type SaidToken, unusable } from "./read-scores.ts";
import type { Post, ScoringDriver, ScoringJob } from "./scoring-driver.ts";

/**
 * vLLM's own field on the completions route: for each token of the prompt a map of ids to `{logprob, rank, decoded_token}`, null for the first. With
 * 0 alternatives the map has the token alone; with more it is one of them, and which is not said: a second request asks for those.
 */
export const promptLogprobsDriver: ScoringDriver = {
  route: "prompt_logprobs",
  asks: "`prompt_logprobs` on /completions",
  takesSeveral: true,
  below: "api",
  async score(post, job) {
    const answer = await ask(post, job, 0);
    const prompts = job.texts();
    const own = choicesOf(answer, prompts.length).map(entriesOf);
    const tops = job.top === 0 ? null : choicesOf(await ask(post, job, job.top), prompts.length).map(entriesOf);
    const scores = prompts.map((prompt, at) => ({ tokens: readScore(prompt, said(prompt, own[at] ?? [], tops?.[at] ?? null, job.top), 0) }));
    return { usage: readUsage(record(answer)?.usage), scores };
  },
};

const ask = (post: Post, { model, texts }: ScoringJob, count: number): Promise<unknown> =>
  post("/completions", () => {
    const prompts = texts();
    return { model, prompt: prompts.length === 1 ? (prompts[0] ?? "") : [...prompts], max_tokens: 1, temperature: 0, prompt_logprobs: count };
  });

interface Entry {
  readonly id: number;
  readonly text: string;
  readonly logprob: unknown;
}

/** Of each place; none for the first. */
function entriesOf(choice: Fields): readonly (readonly Entry[])[] {
  const { prompt_logprobs: places } = choice;
  if (!Array.isArray(places)) throw unusable("the answer has no `prompt_logprobs`");
  return places.map((place: unknown, at) => {
    const fields = record(place);
    if (fields === null) {
      if (at === 0) return [];
      throw unusable(`token ${at + 1} of the prompt has no log-probability`);
    }
    return Object.entries(fields).map(([id, value]): Entry => {
      const { logprob, decoded_token } = record(value) ?? {};
      return { id: Number(id), text: textOf(decoded_token), logprob };
    });
  });
}

function said(prompt: string, own: readonly (readonly Entry[])[], tops: readonly (readonly Entry[])[] | null, count: number): readonly SaidToken[] {
  if (tops !== null && tops.length !== own.length) throw unusable("two requests for the same text have different numbers of tokens");
  const tokens = own.map((entries, at): SaidToken => {
    if (at === 0) return { text: "", logprob: entries[0]?.logprob ?? null };
    const [entry] = entries;
    if (entry === undefined || entries.length !== 1)
      throw unusable(`token ${at + 1} of the prompt has ${entries.length} entries, where it alone was asked for`);
    const top = tops === null ? undefined : topOf(tops[at] ?? [], count);
    return { text: entry.text, logprob: entry.logprob, id: entry.id, ...(top === undefined ? {} : { top }) };
  });
  const [first, ...others] = tokens;
  return first === undefined ? [] : [{ ...first, text: firstToken(prompt, others) }, ...others];
}

/** The longest that a first token is looked for, in string units. */
const LONGEST_FIRST = 64;

/** Nothing is said of the first token: it is what the others leave of the text, or a beginning of text, which leaves nothing. */
function firstToken(prompt: string, others: readonly SaidToken[]): string {
  const texts = others.map(({ text }) => text);
  const left = Math.max(0, prompt.length - texts.reduce((sum, text) => sum + text.length, 0));
  const longest = Math.min(LONGEST_FIRST, prompt.length);
  const fits = [left, ...Array.from({ length: longest + 1 }, (_, length) => length)].find(
    (length) => placeTokens(prompt, [prompt.slice(0, length), ...texts], 0) !== null,
  );
  return prompt.slice(0, fits ?? left);
}

const topOf = (entries: readonly Entry[], count: number): PromptToken["top"] =>
  entries
    .flatMap(({ text, logprob }) => (isLogprob(logprob) ? [{ text, logprob: Math.min(0, logprob) }] : []))
    .sort((a, b) => b.logprob - a.logprob)
    .slice(0, count);
