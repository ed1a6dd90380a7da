import OpenAI from "openai";
import type { Endpoint } from "../client.ts";
import { OverlongPromptError } from "../overlong-prompt-error.ts";
import { bodyText, failureOfStatus, type ProviderCodes, RequestFailed, type StatusAnswer } from "../transport/request-failure.ts";

/** The `openai` SDK's client, as the routes of its kind use it. */
export class OpenAiSdk extends OpenAI {
  constructor(endpoint: Endpoint) {
    super({
      apiKey: endpoint.api_key,
      baseURL: endpoint.base_url,
      // Otherwise read from the process's environment, which belongs to another endpoint.
      adminAPIKey: null,
      organization: null,
      project: null,
      webhookSecret: null,
      defaultHeaders: { Authorization: `Bearer ${endpoint.api_key}`, ...endpoint.headers },
      maxRetries: 0,
      // Its warnings would name URLs and bodies on a console that is not ours.
      logLevel: "off",
    });
  }

  /** The key stands in the default headers: building its own per call costs some 20 µs more in workerd. */
  protected override async authHeaders(): Promise<undefined> {
    return undefined;
  }
}

/** Lower-cased parts of the refusals by which servers say that a prompt does not fit, and the Responses route's own. */
const OVERLONG = [
  "this model's maximum context length is",
  "is longer than the model's context length",
  "exceeds the model's context length",
  "exceed the configured limit",
  "exceeds the configured limit",
  "exceeded model",
  "prompt_too_long",
  "context length",
  "context_length_exceeded",
  "exceeds the context window",
];

const CODES: ProviderCodes = {
  insufficient_quota: "insufficient_quota",
  model_not_found: "model_not_found",
  // In the body of a 200 or of a stream, where no status says it.
  rate_limit_exceeded: "rate_limited",
  server_error: "provider_error",
  invalid_prompt: "bad_request",
  unsupported_country_region_territory: "region_refused",
};

/** What a refusal of OpenAI's API, or of a server of its kind, stands for. */
export function openAiError(answer: StatusAnswer, scrub: (text: string) => string, now: number): Error {
  if (answer.status === 400) {
    const text = bodyText(answer.body).toLowerCase();
    if (OVERLONG.some((phrase) => text.includes(phrase))) return new OverlongPromptError(scrub(text));
  }
  return new RequestFailed(failureOfStatus(answer, CODES, scrub, now));
}

/** An error inside a 200: some routers answer before they ask the model, and put its refusal into the body or the stream. */
export function errorInAnswer(error: Readonly<Record<string, unknown>>): StatusAnswer {
  const named = Number(error.code ?? error.status);
  const status = named >= 400 && named < 600 ? named : error.code === "context_length_exceeded" ? 400 : 200;
  return { status, body: { error }, headers: new Headers() };
}
