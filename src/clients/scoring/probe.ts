import type { RolloutErrorCode } from "../../errors/codes.ts";
import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { RequestFailed } from "../transport/request-failure.ts";
import type { ScoringChoice } from "./choices.ts";
import { unusable } from "./read-scores.ts";
import type { Post, ScoredTexts, ScoringDriver } from "./scoring-driver.ts";

/** Of several tokens in every tokenizer, and not alike: answers that were mixed up do not fit. */
const TEXTS = ["The capital of France is Paris, and that of Spain is Madrid.", "Water boils at a hundred degrees."] as const;
const FEWEST_TOKENS = 4;

/** What the largest request of a probe has. */
export const PROBE_SIZE = { characters: TEXTS.join("").length, texts: TEXTS.length };

/** What a server that lacks a route says of it; anything else is said of the request, the key, the model or the way there. */
const LACKING: readonly RolloutErrorCode[] = [
  "bad_request",
  "invalid_response",
  "malformed_response",
  "empty_response",
  "row_too_large",
  "model_not_found",
  "web_page",
  "provider_error",
];
/** Those of them by which nothing is known of what the server can: a failure that all routes meet is the server's, not the routes'. */
const SILENT: readonly RolloutErrorCode[] = ["web_page", "provider_error"];

const REASON_CHARACTERS = 160;

/** A server error is taken for an answer when it has been given so often. */
export type Prober = (driver: ScoringDriver, serverErrors: number) => Post;

/**
 * Finds out how a server scores texts of `model`, in the order of `drivers`. Throws `RequestFailed` with `prompt_logprobs_unsupported` where it
 * does not, and whatever else keeps it from being asked.
 */
export async function probeScoring(drivers: readonly ScoringDriver[], model: string, postOf: Prober): Promise<ScoringChoice> {
  const failures: { readonly driver: ScoringDriver; readonly failed: RequestFailed }[] = [];
  for (const driver of drivers) {
    const found = await tryDriver(driver, model, postOf);
    if (!(found instanceof RequestFailed)) return found;
    failures.push({ driver, failed: found });
  }
  const silent = failures.find(({ failed }) => SILENT.includes(failed.failure.code));
  if (silent !== undefined && failures.every(({ failed: { failure } }) => SILENT.includes(failure.code) || failure.code === "model_not_found"))
    throw silent.failed;
  const reasons = failures.map(({ driver, failed }) => `${driver.asks}: ${shortened(failed.message)}`);
  throw new RequestFailed({
    code: "prompt_logprobs_unsupported",
    message: reasons.join("; "),
    cause: null,
    retryAfterMs: null,
    shouldRetry: false,
  });
}

async function tryDriver(driver: ScoringDriver, model: string, postOf: Prober): Promise<ScoringChoice | RequestFailed> {
  const several = driver.takesSeveral ? await tryTexts(driver, model, TEXTS, postOf(driver, 1)) : null;
  if (several === "answers") return { driver, several: true };
  const single = await tryTexts(driver, model, TEXTS.slice(0, 1), postOf(driver, 3));
  if (single !== "answers") return single;
  // It may have been the server that failed rather than the list.
  const again = several?.failure.code === "provider_error" ? await tryTexts(driver, model, TEXTS, postOf(driver, 1)) : several;
  return { driver, several: again === "answers" };
}

async function tryTexts(driver: ScoringDriver, model: string, texts: readonly string[], post: Post): Promise<"answers" | RequestFailed> {
  try {
    checkReal(await driver.score(post, { model, top: 0, texts: () => texts }));
    return "answers";
  } catch (thrown) {
    if (thrown instanceof OverlongPromptError) return unusable(thrown.message);
    if (!(thrown instanceof RequestFailed) || !LACKING.includes(thrown.failure.code)) throw thrown;
    if (thrown.failure.code === "model_not_found" && /\bmodel\b/i.test(thrown.message)) throw thrown;
    return thrown;
  }
}

/** Some servers give every token the same, or only those that they made. */
function checkReal({ scores }: ScoredTexts): void {
  for (const { tokens } of scores) {
    const given = tokens.flatMap(({ logprob }) => (logprob === null ? [] : [logprob]));
    if (tokens.length < FEWEST_TOKENS) throw unusable(`a text of many tokens has ${tokens.length} in the answer`);
    if (new Set(given).size < 2) throw unusable("every token of a text has the same log-probability");
  }
}

const shortened = (text: string): string => (text.length > REASON_CHARACTERS ? `${text.slice(0, REASON_CHARACTERS)}…` : text);
