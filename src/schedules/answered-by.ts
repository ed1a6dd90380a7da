import { isNone, type ResponseModel, type ResponseModels } from "../metrics/response-models.ts";

/** What answered a run, as its provider says: a provider that puts another model behind a name changes what a schedule measures. */

export type AnsweringModel = Omit<ResponseModel, "answers">;

export interface AnsweredBy {
  /** Model and address that the run asks: where these are others, somebody said so. */
  readonly asked: string;
  readonly seen: readonly AnsweringModel[];
  /** There were more than are told apart. Absent = these are all. */
  readonly more?: true;
}

/** Null where the answers said nothing. */
export function answeredBy({ model, base_url }: { readonly model: string; readonly base_url: string }, models: ResponseModels | undefined): AnsweredBy | null {
  if (models === undefined || isNone(models)) return null;
  const seen = models.seen.map(({ answers: _, ...each }) => each);
  return { asked: `${model} at ${base_url}`, seen, ...(models.other_answers === undefined ? {} : { more: true as const }) };
}

/**
 * Whether the second was answered by others than the first, though the same was asked. A server that makes up another configuration for each answer is
 * known by the names of its models alone.
 */
export function isAnsweredByOthers(before: AnsweredBy, after: AnsweredBy): boolean {
  if (before.asked !== after.asked) return false;
  const byName = before.more === true || after.more === true;
  const names = ({ seen }: AnsweredBy): string => {
    const each = seen.map(({ model, system_fingerprint }) => JSON.stringify(byName ? model : [model, system_fingerprint]));
    return [...new Set(each)].sort().join();
  };
  return names(before) !== names(after);
}
