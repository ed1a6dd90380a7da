import type { RequestBound } from "../../prices/request-bound.ts";
import type { PromptScore, RelayRoute, ScoreRequest } from "../../rollouts/types.ts";
import { API_VERSION } from "../anthropic/api-version.ts";
import type { ClientPorts, Endpoint } from "../client.ts";
import { requestBound } from "../limits/request-bound.ts";
import type { Weight } from "../limits/request-costs.ts";
import { readUsage, record } from "./reply-fields.ts";
import { shareUsage } from "../scoring/share-usage.ts";
import { Scorer, type SendScoring } from "../scoring/scorer.ts";
import { HttpClient } from "../transport/http-client.ts";
import { bodyText, RequestFailed, type StatusAnswer } from "../transport/request-failure.ts";
import { openAiError, OpenAiSdk } from "./openai-sdk.ts";

/** Words of a refusal, whatever its status, that is about what was asked for. */
const ABOUT_SCORING = /\becho\b|logprobs?\b/i;

/** What the clients of OpenAI's routes have in common, and of servers of its kind: errors, and a way to have texts scored. */
export abstract class OpenAIClient<Prompt, NativeTool> extends HttpClient<OpenAiSdk, Prompt, NativeTool> {
  readonly #scorer: Scorer;

  constructor(endpoint: Endpoint, ports: ClientPorts) {
    super(endpoint, ports);
    this.#scorer = new Scorer((...sent) => this.#sendScoring(...sent), ports, endpoint.headers_from_state);
  }

  protected override setupClient(endpoint: Endpoint): OpenAiSdk {
    return new OpenAiSdk(endpoint);
  }

  override errorOfRefusal(answer: StatusAnswer): Error {
    return openAiError(answer, this.scrub, this.ports.now());
  }

  /** A server that has Anthropic's route reads the key as it reads it from others, or as that route's own clients send it. */
  protected override relayHeaders(route: RelayRoute): Readonly<Record<string, string>> {
    return route === "messages" ? { "x-api-key": this.endpoint.api_key, "anthropic-version": API_VERSION } : {};
  }

  /** Where the server is, without the version of its API. */
  protected get root(): string {
    return this.native.baseURL.replace(/\/+$/, "").replace(/\/v1$/, "");
  }

  async score(request: ScoreRequest): Promise<PromptScore[]> {
    return await this.named(request.model, () => this.#scorer.score(request));
  }

  readonly #sendScoring: SendScoring = async (below, path, text, { signal, model, size, state, states, serverErrors, onWait }) => {
    let errors = 0;
    // A prompt comes back with a token or none behind it, which is no measure for what the model says elsewhere.
    const weigh = (): Weight => {
      const { characters, texts } = size();
      // Until it is known what goes out nobody knows what that costs: no more may join from then on.
      const billed = (): RequestBound => ({ ...requestBound(model, text(), {}, false), output_tokens: size().texts });
      return { model: `${model} ${path}`, characters, bound: texts, billed };
    };
    return await this.exchange({ signal, onWait }, weigh, async (ended, watch) => {
      let answer: unknown = null;
      try {
        const body = text();
        answer = await this.post(below === "api" ? path : `${this.root}${path}`, body, false, { state: state(), signal: ended, watch });
        return answer;
      } catch (thrown) {
        const failed = thrown instanceof RequestFailed && thrown.failure.code === "provider_error" && thrown.failure.noServer !== true;
        if (!failed && !(serverErrors !== null && isPage(thrown))) throw thrown;
        const isAnswer =
          ABOUT_SCORING.test(bodyText((thrown as RequestFailed).message)) || (serverErrors !== null && (isPage(thrown) || ++errors >= serverErrors));
        throw isAnswer ? new RequestFailed({ ...(thrown as RequestFailed).failure, shouldRetry: false }) : thrown;
      } finally {
        watch?.took(record(answer)?.usage);
        this.#count(states(), answer);
      }
    });
  };

  /** Each text has its part of a request that carries several. */
  #count(states: readonly Readonly<Record<string, unknown>>[], answer: unknown): void {
    const usage = readUsage(record(answer)?.usage);
    const parts =
      usage === null
        ? null
        : shareUsage(
            usage,
            states.map(() => 1),
          );
    for (const [at, state] of states.entries()) this.ports.onAttempt?.(state, parts?.[at] ?? null, answer !== null);
  }
}

const isPage = (thrown: unknown): boolean => thrown instanceof RequestFailed && thrown.failure.code === "web_page";
