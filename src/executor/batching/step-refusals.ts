import type { BatchOutcome } from "../../../durable-objects/run/batching/batching-protocol.ts";
import type { SeenBatch } from "../../clients/batching/batch-route.ts";
import { isUnknownThere } from "../../clients/batching/batch-calls.ts";
import { type Place, requestError, RequestFailed } from "../../clients/transport/request-failure.ts";
import { ROLLOUT_ERRORS } from "../../errors/codes.ts";
import { failureOf } from "../../errors/result.ts";

export type Refused = Extract<BatchOutcome, { kind: "refused" }>;

/** What a provider's refusal of a step is for its job. Throws what is none of a provider. */
export function refusalOf(thrown: unknown, step: { readonly kind: string; readonly job: number }, place: Place): Refused {
  if (!(thrown instanceof RequestFailed)) throw thrown;
  return { kind: "refused", job: step.job, failure: failureOf(requestError(thrown, place)), how: howOf(thrown, step.kind) };
}

function howOf(thrown: RequestFailed, step: string): Refused["how"] {
  const { code } = thrown.failure;
  const isNew = step === "create" || step === "upload";
  if (!isNew && isUnknownThere(thrown)) return "missing";
  if (step === "create" && code === "rate_limited") return "full";
  return ROLLOUT_ERRORS[code].fatal || (isNew && code === "bad_request") ? "for-good" : "passing";
}

/** The provider's own fault rather than the file's. */
const THEIRS = /server[ _]?error|internal|overloaded|unavailable|try again/i;

/** The same of a batch that failed as a whole, or is missing. */
export function failedBatch({ batch_id, problem, full, state }: SeenBatch, job: number, { url }: Place): Refused {
  const said = problem ?? "it does not say why";
  const what = state === "missing" ? "is not there" : "failed as a whole";
  const failure = { code: "provider_error", message: `${url}: the batch ${batch_id} ${what}: ${said}` } as const;
  const how = state === "missing" ? "missing" : full ? "full" : THEIRS.test(said) ? "passing" : "for-good";
  return { kind: "refused", job, failure, how, ...(how === "missing" ? {} : { batch_id }) };
}

/** A job for which there is no money now: something that is held, or in the hands of executors, may come back. */
export const unpaidOutcome = (job: number): Refused => ({
  kind: "refused",
  job,
  failure: { code: "over_budget", message: "its budgets have too little left for it beside what is under way" },
  how: "full",
});
