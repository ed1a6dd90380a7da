import { ModelError } from "../../errors/rollout-errors.ts";
import type { Client, PromptScore, ScoreRequest } from "../../rollouts/types.ts";

/** Has `client` score texts. Rejects with `prompt_logprobs_unsupported` where its kind has no way to, else as `Client.score` does. */
export async function scoreTexts(client: Client, request: ScoreRequest): Promise<PromptScore[]> {
  if (client.score !== undefined) return await client.score(request);
  throw noScores(client);
}

/** What a client says that has no way to score texts. */
export function noScores(client: Pick<Client, "type">): ModelError {
  return new ModelError(`a client of type ${client.type} cannot ask for the log-probabilities of a prompt`, {
    code: "prompt_logprobs_unsupported",
    hint: "serve the model behind a completions route, and call it with --api-client-type openai_completions (docs/likelihood.md says which servers do)",
  });
}
