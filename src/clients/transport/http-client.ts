import { parseShallow } from "../../config/json-depth.ts";
import { MAX_RELAYED_STREAM_CHARACTERS, MIB } from "../../limits.ts";
import type { RelayReply, RelayRequest, RelayRoute } from "../../rollouts/types.ts";
import type { BatchedAnswer } from "../batching/batch-route.ts";
import { type Attempt, BaseClient, type NativeRequest } from "../base-client.ts";
import { likelyBases, type Looked, modelAdvice, modelNames } from "../endpoint-advice.ts";
import { type AnswerReader, readAnswer, type StreamFold } from "./read-answer.ts";
import { readReply } from "../relay/read-reply.ts";
import { failureOfNetwork, RequestFailed, type RequestFailure } from "./request-failure.ts";
import { type RequestBuilder, type Template, templateOf } from "./request-template.ts";
import { readText } from "./response-body.ts";
import { shownUrl } from "../secrets.ts";
import { stateHeaders } from "./state-headers.ts";

/** For a look at what a server offers: whoever waits for it has an error to show. */
const LOOK_MS = 2_000;
const LIST_BYTES = 4 * MIB;

/**
 * A client that posts JSON to a route of an SDK. The SDK builds the request; its own way out is not taken, since it would repeat,
 * time and classify what is repeated, timed and classified here (docs/decisions/requests-built-once.md).
 */
export abstract class HttpClient<Sdk extends RequestBuilder, Prompt, NativeTool> extends BaseClient<Sdk, Prompt, NativeTool, unknown> {
  /** Path of the route below the base URL. */
  protected abstract readonly path: string;

  /** A fresh fold for one streamed answer. */
  protected abstract streamFold(): StreamFold;

  /**
   * The SDK builds headers and URL anew for every call, formats debug texts and sets timers (some 150 µs, measured in workerd);
   * they are the same for every call of a route, so it is asked once.
   */
  readonly #templates = new Map<string, Promise<Template>>();

  #template(path: string): Promise<Template> {
    const known = this.#templates.get(path);
    if (known !== undefined) return known;
    const made = templateOf(this.native, { method: "post", path, body: {} });
    this.#templates.set(path, made);
    return made;
  }

  async getNativeResponse(request: NativeRequest, attempt: Attempt): Promise<unknown> {
    return this.post(this.path, request.text, request.body.stream === true, attempt);
  }

  async relay(request: RelayRequest): Promise<RelayReply> {
    const { route } = request;
    const path = this.relayPath(route);
    return await this.passedOn(request, async (text, attempt) => {
      const response = await this.#send(path, text, attempt, this.relayHeaders(route));
      return await readReply(response, {
        route,
        isOwn: path === this.path,
        scrub: this.scrub,
        blot: this.blot,
        now: this.ports.now,
        limit: this.ports.relayedCharacters ?? MAX_RELAYED_STREAM_CHARACTERS,
        onAnswer: attempt.onAnswer,
      });
    });
  }

  /** Where requests are relayed to: a path below the base URL. */
  protected relayPath(route: RelayRoute): string {
    return `/${route}`;
  }

  /** What servers of a route read beside the headers of this client's own. */
  protected abstract relayHeaders(route: RelayRoute): Readonly<Record<string, string>>;

  protected override async readBatched({ status, text }: BatchedAnswer): Promise<unknown> {
    const headers = { "content-type": "application/json" };
    return await readAnswer(new Response(text, { status, headers }), this.#reader(false));
  }

  #reader(streamed: boolean, onAnswer?: () => void): AnswerReader {
    return {
      streamed,
      scrub: this.scrub,
      streamFold: () => this.streamFold(),
      errorOfRefusal: (answer) => this.errorOfRefusal(answer),
      onAnswer,
    };
  }

  /** Posts `text` to a route, `path` below the base URL or a whole URL, and reads its answer. Throws as `readAnswer` does. */
  protected async post(path: string, text: string, streamed: boolean, attempt: Attempt): Promise<unknown> {
    const response = await this.#send(path, text, attempt);
    return await readAnswer(response, this.#reader(streamed, attempt.onAnswer));
  }

  /** Path of the list of models below the base URL; null where the route has none. */
  protected readonly modelsPath: string | null = "/models";
  #looked: Promise<Looked> | null = null;

  /** Names of the models that the server lists; null when it does not say. One request without a permit; never throws. */
  async offeredModels(signal: AbortSignal = AbortSignal.timeout(LOOK_MS)): Promise<readonly string[] | null> {
    return await this.#list(this.endpoint.base_url, signal);
  }

  /** Looks once per client: whoever meets the same refusal is told the same. */
  protected override async advice({ code }: RequestFailure, model: string): Promise<string | null> {
    if (code !== "model_not_found" && code !== "web_page") return null;
    this.#looked ??= this.#look();
    const looked = await this.#looked;
    return code === "web_page" && looked.offered !== null ? null : modelAdvice(model, looked);
  }

  async #look(): Promise<Looked> {
    const signal = AbortSignal.timeout(LOOK_MS);
    const { base_url } = this.endpoint;
    const offered = await this.#list(base_url, signal);
    if (offered !== null) return { offered, elsewhere: null };
    for (const base of likelyBases(base_url)) if ((await this.#list(base, signal)) !== null) return { offered, elsewhere: shownUrl(base) };
    return { offered, elsewhere: null };
  }

  /** `base`: of the same host, since the key goes along. */
  async #list(base: string, signal: AbortSignal): Promise<readonly string[] | null> {
    if (this.modelsPath === null) return null;
    try {
      const { req, url } = await this.native.buildRequest({ method: "get", path: this.modelsPath });
      const own = this.endpoint.base_url.replace(/\/+$/, "");
      const place = base === this.endpoint.base_url ? url : url.replace(own, base);
      const response = await this.ports.fetch(place, { headers: Object.fromEntries(new Headers(req.headers)), signal, redirect: "manual" });
      return response.ok ? modelNames(parseShallow(await readText(response, LIST_BYTES))) : null;
    } catch {
      // The refusal that is asked about says more than a list that cannot be had.
      return null;
    }
  }

  /** Resolves when the headers of the answer have come. */
  async #send(path: string, text: string, { state, signal, watch }: Attempt, more: Readonly<Record<string, string>> = {}): Promise<Response> {
    const { url, headers: common } = await this.#template(path);
    const headers = { ...more, ...common, ...stateHeaders(this.endpoint.headers_from_state, state) };
    const { connections } = this.ports;
    if (connections !== undefined) await connections.enter(signal);
    try {
      watch?.sends();
      // A redirect would carry the key to an address that nobody named.
      const response = await this.ports.fetch(url, { method: "POST", headers, body: text, signal, redirect: "manual" });
      watch?.answered(response);
      return response;
    } catch (thrown) {
      throw new RequestFailed(failureOfNetwork(thrown, false, this.scrub));
    } finally {
      connections?.leave();
    }
  }
}
