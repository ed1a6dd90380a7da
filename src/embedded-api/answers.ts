import { generate } from "../embedded-model/generate.ts";
import type { EmbeddedModel, Session } from "../embedded-model/model.ts";
import { logSoftmax, type SamplingOptions, SeededRandom } from "../embedded-model/sampling.ts";
import { END_OF_TEXT } from "../embedded-model/vocabulary.ts";
import { StopSequences, type TextToken } from "./stop-sequences.ts";

export interface Prompt {
  readonly ids: readonly number[];
  /** What each token stands for in the text that was sent; one entry per id. */
  readonly texts: readonly string[];
}

/** One request, whichever route it came by. Choices are numbered prompt by prompt: `n` of the first, then `n` of the second. */
export interface Job {
  readonly prompts: readonly Prompt[];
  readonly n: number;
  /** Every prompt begins with it anew, so that its answers do not depend on what else is in the request. */
  readonly seed: number;
  readonly sampling: SamplingOptions;
  /** Null: until the context is full. */
  readonly maxTokens: number | null;
  /** An answer does not end before it has so many tokens. */
  readonly minTokens: number;
  readonly stops: readonly string[];
  readonly echo: boolean;
  /** Whether log-probabilities of an echoed prompt are wanted; those of an answer are always there. */
  readonly scored: boolean;
}

/** A token of a choice's text. */
export interface ScoredToken extends TextToken {
  readonly id: number;
  /** Natural log-probabilities of every token at this place; null for an echoed token that was not scored: the first, or all. */
  readonly logProbabilities: Float64Array | null;
}

export type Finish = "stop" | "length";

export type AnswerEvent = { readonly choice: number; readonly token: ScoredToken } | { readonly choice: number; readonly finish: Finish };

export interface Usage {
  /** Of every prompt, once. */
  readonly prompt_tokens: number;
  /** Every token made, also those of a stop sequence; the end of text is none. */
  readonly completion_tokens: number;
  readonly total_tokens: number;
}

/** Tokens of a prompt as the model reads it: an empty one is the end of the text before. */
export const tokensRead = ({ ids }: Prompt): number => Math.max(1, ids.length);

/** Makes every choice, one after the other; each has its tokens and then its end. Pure computing, to be taken in slices. */
export function* answers(model: EmbeddedModel, job: Job): Generator<AnswerEvent, Usage> {
  let made = 0;
  for (const [at, prompt] of job.prompts.entries()) {
    const random = new SeededRandom(job.seed);
    const { session, logits, echoed } = read(model, prompt, job);
    const room = model.contextLength - session.length;
    for (let index = 0; index < job.n; index++) {
      const choice = at * job.n + index;
      for (const token of echoed) yield { choice, token };
      const fork = job.n === 1 ? session : session.fork();
      const maxTokens = Math.min(room, job.maxTokens ?? room);
      const tokens = generate(fork, logits, { ...job.sampling, random, maxTokens, minTokens: job.minTokens });
      const stops = new StopSequences<ScoredToken>(job.stops);
      let finish: Finish | null = null;
      while (finish === null) {
        const step = tokens.next();
        if (step.done === true) {
          for (const token of stops.flush()) yield { choice, token };
          finish = step.value;
          break;
        }
        made++;
        const { tokens: certain, stopped } = stops.push({ ...step.value, text: model.vocabulary.text(step.value.id) });
        for (const token of certain) yield { choice, token };
        if (stopped) finish = "stop";
      }
      yield { choice, finish };
    }
  }
  const prompt_tokens = job.prompts.reduce((sum, prompt) => sum + tokensRead(prompt), 0);
  return { prompt_tokens, completion_tokens: made, total_tokens: prompt_tokens + made };
}

interface ReadPrompt {
  readonly session: Session;
  /** Of the token that follows the prompt. */
  readonly logits: Float64Array;
  readonly echoed: readonly ScoredToken[];
}

function read(model: EmbeddedModel, { ids, texts }: Prompt, { echo, scored }: Job): ReadPrompt {
  const session = model.session();
  if (ids.length === 0) return { session, logits: session.prefill([END_OF_TEXT]), echoed: [] };
  const rows = echo && scored ? session.prefillEvery(ids) : [session.prefill(ids)];
  const logits = rows.at(-1);
  if (logits === undefined) throw new RangeError("a prompt was read without an answer");
  // The row after one token says what was expected of the next.
  const expected = (index: number): Float64Array | null => (scored && index > 0 ? (rows[index - 1] ?? null) : null);
  const echoed = ids.map((id, index) => {
    const row = expected(index);
    return { id, text: texts[index] ?? "", logProbabilities: row === null ? null : logSoftmax(row) };
  });
  return { session, logits, echoed: echo ? echoed : [] };
}
