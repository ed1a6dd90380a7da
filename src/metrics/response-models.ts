/**
 * What a provider says of itself in its answers: the model that answered, which may be another than the one that was asked for (`gpt-4.1` becomes
 * `gpt-4.1-2025-04-14`), and OpenAI's `system_fingerprint` of the configuration that ran it. Both are a server's words: bounded in length and in number.
 */

export interface ResponseModel {
  /** Empty where the answers name none. */
  readonly model: string;
  /** Null where the answers have none. */
  readonly system_fingerprint: string | null;
  readonly answers: number;
}

export interface ResponseModels {
  /** In the order in which they were first seen. */
  readonly seen: readonly ResponseModel[];
  /** Answers of further ones; absent = none. */
  readonly other_answers?: number;
}

/** Pairs that are told apart: a server may make up another one for each answer. */
export const MOST_RESPONSE_MODELS = 8;
const MOST_CHARACTERS = 120;

export const NO_RESPONSE_MODELS: ResponseModels = { seen: [] };

export const isNone = ({ seen, other_answers = 0 }: ResponseModels): boolean => seen.length === 0 && other_answers === 0;

/** An answer's own fields, whatever its server put there; null for one that says neither. */
export function responseModel(answer: unknown): Omit<ResponseModel, "answers"> | null {
  if (typeof answer !== "object" || answer === null) return null;
  const { model, system_fingerprint } = answer as { readonly model?: unknown; readonly system_fingerprint?: unknown };
  const [named, fingerprint] = [model, system_fingerprint].map((value) => (typeof value === "string" ? value.slice(0, MOST_CHARACTERS).toWellFormed() : ""));
  if (named === "" && fingerprint === "") return null;
  return { model: named ?? "", system_fingerprint: fingerprint === "" || fingerprint === undefined ? null : fingerprint };
}

const isOne = (a: Omit<ResponseModel, "answers">, b: Omit<ResponseModel, "answers">): boolean =>
  a.model === b.model && a.system_fingerprint === b.system_fingerprint;

function add({ seen, other_answers = 0 }: ResponseModels, added: ResponseModel): ResponseModels {
  const others = other_answers === 0 ? {} : { other_answers };
  const at = seen.findIndex((each) => isOne(each, added));
  if (at >= 0) return { seen: seen.map((each, i) => (i === at ? { ...each, answers: each.answers + added.answers } : each)), ...others };
  if (seen.length < MOST_RESPONSE_MODELS) return { seen: [...seen, added], ...others };
  return { seen, other_answers: other_answers + added.answers };
}

/** Both together. */
export function addResponseModels(a: ResponseModels, b: ResponseModels): ResponseModels {
  const { other_answers = 0 } = b;
  const { seen, other_answers: before = 0 } = b.seen.reduce(add, a);
  return { seen, ...(before + other_answers === 0 ? {} : { other_answers: before + other_answers }) };
}

/** What one teller has counted since it told `before`; calls of it may arrive in another order than they were sent, and nothing is counted back. */
export function responseModelsSince(before: ResponseModels, told: ResponseModels): ResponseModels {
  const seen = told.seen.flatMap((each) => {
    const answers = each.answers - (before.seen.find((known) => isOne(known, each))?.answers ?? 0);
    return answers > 0 ? [{ ...each, answers }] : [];
  });
  const others = (told.other_answers ?? 0) - (before.other_answers ?? 0);
  return { seen, ...(others > 0 ? { other_answers: others } : {}) };
}

/** Counts what one grant's answers say. */
export class ResponseModelMeter {
  readonly #answers = new Map<string, { readonly of: Omit<ResponseModel, "answers">; answers: number }>();
  #others = 0;

  count(answer: unknown): void {
    const of = responseModel(answer);
    if (of === null) return;
    const key = JSON.stringify([of.model, of.system_fingerprint]);
    const known = this.#answers.get(key);
    if (known !== undefined) known.answers++;
    else if (this.#answers.size < MOST_RESPONSE_MODELS) this.#answers.set(key, { of, answers: 1 });
    else this.#others++;
  }

  get told(): ResponseModels {
    const seen = [...this.#answers.values()].map(({ of, answers }) => ({ ...of, answers }));
    return { seen, ...(this.#others === 0 ? {} : { other_answers: this.#others }) };
  }
}
