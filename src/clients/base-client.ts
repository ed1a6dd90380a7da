import { isEmbeddedUrl } from "../config/endpoints/providers.ts";
import type { Json, JsonObject } from "../config/plan/run-config.ts";
import type { RequestBound } from "../prices/request-bound.ts";
import type { Client, Message, ModelCall, ModelRequest, ModelResponse, RelayReply, RelayRequest, Tool } from "../rollouts/types.ts";
import type { Batched, BatchedAnswer } from "./batching/batch-route.ts";
import { inOnePiece } from "./batching/one-piece.ts";
import type { AttemptWatch } from "./limits/attempt-watch.ts";
import { LimitHeaders } from "./limits/limit-headers.ts";
import { requestBound } from "./limits/request-bound.ts";
import { boundOf, charactersOf, RequestCosts, type Weight } from "./limits/request-costs.ts";
import { AttemptClock } from "./transport/attempt-clock.ts";
import { type ClientPorts, DEFAULT_REQUEST_MS, type Endpoint } from "./client.ts";
import { knownOrAsked } from "./known-answers.ts";
import { readUsage, record } from "./openai/reply-fields.ts";
import { badAnswer, RequestFailed, requestError, type RequestFailure, type StatusAnswer } from "./transport/request-failure.ts";
import { sendWithRetries } from "./transport/request-retry.ts";
import { keptReply, readKeptReply } from "./relay/kept-reply.ts";
import type { Relayed } from "./relay/read-reply.ts";
import { withReply } from "./relay/refused-reply.ts";
import { endpointBlotter, scrubber, shownUrl } from "./secrets.ts";
import { VisibleWriting } from "./openai/visible-writing.ts";

/** What a provider is asked, in its own form. */
export interface NativeCall<Prompt, NativeTool> {
  readonly model: string;
  readonly prompt: Prompt;
  /** Empty when there are none. */
  readonly tools: readonly NativeTool[];
  /** Without nulls, and without `n`: one answer per request. */
  readonly sampling_args: JsonObject;
}

/** A call as it is sent, as often as it takes. */
export interface NativeRequest {
  readonly model: string;
  readonly body: JsonObject;
  /** `body` as it is sent. */
  readonly text: string;
  /** Asked for in pieces by us alone. */
  readonly visibly: boolean;
}

/** An answer that was taken, and as it came. */
interface Taken<NativeResponse> {
  readonly value: ModelResponse;
  readonly answer: NativeResponse;
}

/** What one attempt may use. */
export interface Attempt {
  /** Of the rollout, for headers that carry its values. */
  readonly state: Readonly<Record<string, unknown>>;
  readonly signal: AbortSignal;
  /** See `ModelRequest`. */
  readonly onAnswer?: (() => void) | undefined;
  /** Is told of every answer as it begins; absent where nobody reads it. */
  readonly watch?: AttemptWatch | undefined;
}

/**
 * What every client is made of: how its SDK is set up, how prompt, tools and answer look there, and what its errors mean. All
 * else is common and here: permits, pauses, retries, time-outs, cancellation, secrets (docs/retries.md).
 */
export abstract class BaseClient<Sdk, Prompt, NativeTool, NativeResponse> implements Client {
  abstract readonly type: string;
  /** The SDK's own client, or whatever else stands below. */
  readonly native: Sdk;
  protected readonly endpoint: Endpoint;
  protected readonly ports: ClientPorts;
  /** Blots out the endpoint's secrets in what its server says, and shortens it. */
  protected readonly scrub: (text: string) => string;
  /** The same, whole. */
  protected readonly blot: (text: string) => string;
  readonly #clock: AttemptClock;
  readonly #costs: RequestCosts;
  readonly #headers = new LimitHeaders();
  readonly #writing = new VisibleWriting();

  constructor(endpoint: Endpoint, ports: ClientPorts) {
    this.endpoint = endpoint;
    this.ports = ports;
    this.scrub = scrubber(endpoint.api_key, endpoint.headers);
    this.blot = endpointBlotter(endpoint.api_key, endpoint.headers);
    this.#costs = ports.costs ?? new RequestCosts();
    this.#clock = new AttemptClock(ports.timeouts.request_ms ?? DEFAULT_REQUEST_MS, ports.now);
    this.native = this.setupClient(endpoint, ports);
  }

  /** Makes the SDK's client; it reads nothing from the process's environment and repeats nothing by itself. Called by the constructor. */
  protected abstract setupClient(endpoint: Endpoint, ports: ClientPorts): Sdk;

  /** Messages in the provider's form. Throws for what it cannot be sent; the rollout then ends with `bad_request`. */
  abstract toNativePrompt(messages: readonly Message[]): Prompt;

  abstract toNativeTool(tool: Tool): NativeTool;

  /** The whole body of a request. */
  abstract toNativeBody(call: NativeCall<Prompt, NativeTool>): JsonObject;

  /** Asks once. Throws `RequestFailed` or `OverlongPromptError`, made by `errorOfRefusal` where the provider refused. */
  abstract getNativeResponse(request: NativeRequest, attempt: Attempt): Promise<NativeResponse>;

  /** Throws `RequestFailed` for an answer that is none. */
  abstract raiseFromNativeResponse(response: NativeResponse): void;

  abstract fromNativeResponse(response: NativeResponse): ModelResponse;

  /** What a refusal of the provider stands for: `RequestFailed`, or `OverlongPromptError`. */
  abstract errorOfRefusal(answer: StatusAnswer): Error;

  /** The answer of a batch as `getNativeResponse` would have given it. Throws as that does. */
  protected async readBatched(_answer: BatchedAnswer): Promise<NativeResponse> {
    throw badAnswer("bad_request", `a client of the type ${this.type} puts no requests into batches`);
  }

  /** Lets go of what the client holds. Nothing here holds anything between requests. */
  async close(): Promise<void> {}

  /** What to change, as the server itself says when it is asked after a refusal; null when nothing better is known than the code. */
  protected async advice(_failure: RequestFailure, _model: string): Promise<string | null> {
    return null;
  }

  /** Whether an answer in pieces is the one that would have come whole. */
  protected readonly showsWriting: boolean = true;

  /** Whether the provider is paid for what it puts into its cache of prompts. */
  protected readonly writesCache: boolean = false;

  /** Whether the server was seen to pass over the limit of tokens in a body. `passedOn`: somebody else's, which is sent as it is. */
  protected passesOverLimit(_body: JsonObject, _passedOn: boolean): boolean {
    return false;
  }

  /** Called with every answer, for what a person should know of it. */
  protected inspect(_request: ModelRequest, _response: ModelResponse, _native: NativeRequest): void {}

  async getResponse(request: ModelRequest): Promise<ModelResponse> {
    return await this.named(request.model, async () => {
      const native = this.#prepare(request);
      const { batched } = this.ports;
      const ask = (): Promise<Taken<NativeResponse>> => (batched === undefined ? this.#ask(request, native) : this.#askBatched(request, native, batched));
      const { answers } = this.ports;
      if (answers === undefined) return (await ask()).value;
      const { model, body } = native;
      const beside = this.decidesToo(request.state);
      const question = { route: null, model, body, ...(beside === null ? {} : { beside }), state: request.state };
      const open = (answer: Json): ModelResponse => {
        const response = answer as NativeResponse;
        this.raiseFromNativeResponse(response);
        const taken = { ...this.fromNativeResponse(response), cached: true as const };
        this.#tookKnown(request, response, record(answer)?.usage);
        return taken;
      };
      return await knownOrAsked(answers, question, request.signal, { open, ask, blot: this.blot });
    });
  }

  async #ask(request: ModelRequest, first: NativeRequest): Promise<Taken<NativeResponse>> {
    let native = first;
    const { state, onAnswer } = request;
    const attempt = async (signal: AbortSignal, watch: AttemptWatch | undefined): Promise<Taken<NativeResponse>> => {
      try {
        return await this.#attempt(native, { state, signal, onAnswer, watch });
      } catch (thrown) {
        if (!native.visibly || !this.#writing.isRefused(thrown)) throw thrown;
        this.ports.onWarning?.("stream_refused", "the server does not stream: its answers are asked for whole from now on");
        native = this.#prepare(request);
        return await this.#attempt(native, { state, signal, onAnswer, watch });
      }
    };
    const taken = await this.exchange(request, this.#weighed(native.model, native.text, native.body), attempt);
    this.inspect(request, taken.value, native);
    return taken;
  }

  /** Nothing is sent, and nobody's permit is held: a batch has answered, or will. */
  async #askBatched(request: ModelRequest, native: NativeRequest, batched: Batched): Promise<Taken<NativeResponse>> {
    const { state, signal, onBegin, onAnswer } = request;
    onBegin?.();
    const answer = await batched.answer({ model: native.model, body: inOnePiece(native.body), state }, signal);
    onAnswer?.();
    const taken = this.#takenOf(await this.readBatched(answer));
    this.inspect(request, taken.value, native);
    return taken;
  }

  /** What decides an answer beside the body of its request; null = nothing does. */
  protected decidesToo(_state: Readonly<Record<string, unknown>>): Json | null {
    return null;
  }

  /** An answer that was kept goes for one of the server's, but that nothing was sent. */
  #tookKnown({ state, onBegin }: Pick<ModelCall, "state" | "onBegin">, answer: unknown, usage: unknown): void {
    onBegin?.();
    this.ports.onTaken?.(answer);
    this.ports.onCached?.(state, readUsage(usage));
  }

  /** Sends one request as often as it takes. Every request to the model goes out here, whatever it asks for. */
  protected async exchange<T>(
    { signal, onBegin, onWait }: Pick<ModelCall, "signal" | "onBegin" | "onWait">,
    weigh: () => Weight,
    attempt: (signal: AbortSignal, watch: AttemptWatch | undefined) => Promise<T>,
  ): Promise<T> {
    if (this.ports.batched !== undefined)
      throw badAnswer("bad_request", "in a run with --batch the model is asked for answers alone: no request is passed on, and no text scored");
    return await sendWithRetries({ signal, clock: this.#clock, costs: this.#costs, headers: this.#headers, weigh, onBegin, onWait, attempt }, this.ports);
  }

  /** Passes a request on, `passOn` once for each attempt with the text of its body. */
  protected async passedOn(request: RelayRequest, passOn: (text: string, attempt: Attempt) => Promise<Relayed>): Promise<RelayReply> {
    const { state, onAnswer, model } = request;
    const body = { ...request.body, model };
    const text = JSON.stringify(body);
    const ask = (): Promise<Relayed> =>
      this.exchange(request, this.#weighed(model, text, request.body, true), async (signal, watch) => {
        let taken: Relayed | null = null;
        try {
          taken = await passOn(text, { state, signal, onAnswer, watch });
          this.ports.onTaken?.(taken.answer);
          return taken;
        } catch (thrown) {
          throw this.#scrubbed(thrown);
        } finally {
          const usage = record(taken?.answer)?.usage;
          watch?.took(usage);
          this.ports.onAttempt?.(state, readUsage(usage), taken !== null);
        }
      });
    const { answers } = this.ports;
    return await this.named(model, async () => {
      if (answers === undefined) return (await ask()).reply;
      const open = (kept: Json): RelayReply => {
        const { reply, said } = readKeptReply(kept);
        this.#tookKnown(request, said, record(said)?.usage);
        return reply;
      };
      const asking = { open, ask: async () => keptReply(await ask()), blot: this.blot };
      return await knownOrAsked(answers, { route: request.route, model, body, state }, request.signal, asking);
    });
  }

  /** `work` for a call of `model`; a request that failed in it is the error of its rollout, with place and model by name. */
  protected async named<T>(model: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (thrown) {
      const failed = this.#scrubbed(thrown);
      if (!(failed instanceof RequestFailed)) throw failed;
      const { base_url, api_key_var } = this.endpoint;
      const place = { url: shownUrl(base_url), model, keyVar: api_key_var, keyless: isEmbeddedUrl(`${base_url}/`) };
      throw withReply(requestError(failed, place, await this.advice(failed.failure, model)), failed.failure.reply);
    }
  }

  /** The weight of a request that does not change; worked out when it is first asked for. */
  #weighed(model: string, text: string, body: JsonObject, passedOn = false): () => Weight {
    let weight: Weight | null = null;
    const billed = (): RequestBound => {
      const bound = requestBound(model, text, body, this.writesCache);
      return this.passesOverLimit(body, passedOn) ? { ...bound, open: bound.open ?? "its server passes over the limit of tokens" } : bound;
    };
    return () => (weight ??= { model, characters: charactersOf(text), bound: boundOf(body), billed });
  }

  async #attempt(request: NativeRequest, attempt: Attempt): Promise<Taken<NativeResponse>> {
    let response: NativeResponse | null = null;
    try {
      response = await this.getNativeResponse(request, attempt);
      return this.#takenOf(response);
    } catch (thrown) {
      throw this.#scrubbed(thrown);
    } finally {
      const usage = record(response)?.usage;
      attempt.watch?.took(usage);
      this.ports.onAttempt?.(attempt.state, readUsage(usage), response !== null);
    }
  }

  #takenOf(response: NativeResponse): Taken<NativeResponse> {
    this.raiseFromNativeResponse(response);
    const value = this.fromNativeResponse(response);
    this.ports.onTaken?.(response);
    return { value, answer: response };
  }

  /** Whatever of an answer stands in a failure, a key that it echoes does not. */
  #scrubbed(thrown: unknown): unknown {
    if (!(thrown instanceof RequestFailed)) return thrown;
    const { failure, attempts } = thrown;
    return new RequestFailed({ ...failure, message: this.scrub(failure.message) }, attempts);
  }

  #prepare(request: ModelRequest): NativeRequest {
    try {
      const visibly = this.ports.batched === undefined && this.showsWriting && this.#writing.mayShow(request);
      const body = this.toNativeBody({
        model: request.model,
        prompt: this.toNativePrompt(request.prompt),
        tools: request.tools.map((tool) => this.toNativeTool(tool)),
        sampling_args: { ...sendable(request.sampling_args), ...(visibly ? { stream: true } : {}) },
      });
      return { model: request.model, body, text: JSON.stringify(body), visibly };
    } catch (thrown) {
      throw badAnswer("bad_request", thrown instanceof Error ? thrown.message : String(thrown));
    }
  }
}

/** Arguments without nulls, which mean "not set". Throws for what no provider can be asked here. */
function sendable(args: JsonObject): JsonObject {
  const { n, ...rest } = Object.fromEntries(Object.entries(args).filter(([, value]) => value !== null));
  if (n !== undefined && n !== 1) throw new RangeError(`sampling_args.n is ${JSON.stringify(n)}: one answer per request; more rollouts come from -r`);
  const extra = rest.extra_body;
  if (extra !== undefined && (typeof extra !== "object" || extra === null || Array.isArray(extra)))
    throw new RangeError("sampling_args.extra_body is not an object");
  return rest;
}
