import type { z } from "zod";
import { parseUrl } from "../config/endpoints/addresses.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";

/** What a conversation with a Hub needs of where it is held. */
export interface HubPlace {
  /** Without a slash at the end. */
  readonly endpoint: string;
  readonly token: string;
  fetch(url: string, init: RequestInit): Promise<Response>;
  sleep(ms: number): Promise<void>;
}

export type HubBody = string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>;

export interface HubRequest {
  readonly method?: "GET" | "POST" | "PUT";
  readonly headers?: Readonly<Record<string, string>>;
  /** Called for each attempt; null = no body. */
  readonly body?: (() => Promise<HubBody> | HubBody) | null;
  /** Whether it is sent again after a failure that passes; one that must happen once is not. Default: it is. */
  readonly repeats?: boolean;
  /** The address is its own permission, and gets no token. */
  readonly signed?: boolean;
}

/** Waits before the further attempts, in milliseconds. */
const WAITS = [500, 2_000, 5_000, 10_000];
const MAX_WAIT_MS = 30_000;
const MAX_REDIRECTS = 5;
/** Of what the Hub says about a failure. */
const MAX_SAID = 300;
const MAX_ERROR_BYTES = 64 * 1024;

/** Talks to one Hub with one token, which goes to that Hub's own address and nowhere else, and stands in no error. */
export class HubClient {
  readonly #place: HubPlace;

  constructor(place: HubPlace) {
    this.#place = place;
  }

  get endpoint(): string {
    return this.#place.endpoint;
  }

  /**
   * An answer of any status but those that pass (429, 5xx), after which the request is sent again a few times. `target`: a path of the Hub, or an
   * address that it gave. Throws `hub_unreachable`.
   */
  async ask(target: string, { repeats = true, ...request }: HubRequest = {}): Promise<Response> {
    const url = target.startsWith("/") ? `${this.endpoint}${target}` : target;
    for (let attempt = 0; ; attempt++) {
      const wait = repeats ? WAITS[attempt] : undefined;
      const answer = await this.#once(url, request).catch((thrown: unknown) => {
        if (thrown instanceof EdgewiseError) throw thrown;
        return this.#masked(reasonOf(thrown));
      });
      if (typeof answer !== "string" && !(answer.status === 429 || answer.status >= 500)) return answer;
      if (wait === undefined) throw typeof answer === "string" ? this.#lost(url, answer) : await this.#busy(url, answer);
      const asked = typeof answer === "string" ? 0 : 1_000 * (Number(answer.headers.get("retry-after")) || 0);
      if (typeof answer !== "string") await answer.body?.cancel();
      await this.#place.sleep(Math.min(MAX_WAIT_MS, Math.max(wait, asked)));
    }
  }

  /** The answer as `schema` has it; null for a status that is none of success. Throws `hub_unreachable` for what is not such an answer. */
  async read<T>(response: Response, schema: z.ZodType<T>): Promise<T> {
    const parsed = schema.safeParse(await response.json().catch(() => null));
    if (parsed.success) return parsed.data;
    throw new EdgewiseError("hub_unreachable", `${this.#host()} answered with something else than a Hub does.`, {
      hint: "Check HF_ENDPOINT, and whether a proxy stands between.",
    });
  }

  /** What the Hub says about a refusal, in its words and without the token. */
  async said(response: Response): Promise<string> {
    const header = response.headers.get("x-error-message");
    const text = (await response.text().catch(() => "")).slice(0, MAX_ERROR_BYTES);
    let error: unknown = header;
    try {
      error = (JSON.parse(text) as { error?: unknown } | null)?.error ?? header;
    } catch {
      // A page for people, of something on the way.
    }
    const words = typeof error === "string" ? this.#masked(error).replaceAll(/\s+/g, " ").trim().slice(0, MAX_SAID) : "";
    return words === "" ? `status ${response.status}` : `status ${response.status}: ${words}`;
  }

  async #once(url: string, { method = "GET", headers = {}, body = null, signed = false }: HubRequest): Promise<Response> {
    const content = body === null ? undefined : await body();
    for (let at = url, hop = 0; ; hop++) {
      const own = this.isOwn(at) && !signed ? { authorization: `Bearer ${this.#place.token}` } : {};
      // A stream is sent while it is read, and its length is in the headers. Compressed on the way, lengths of answers would be others.
      const streamed = content instanceof ReadableStream ? { duplex: "half" } : {};
      const init = { method, headers: { "accept-encoding": "identity", ...own, ...headers }, redirect: "manual", ...streamed };
      const response = await this.#place.fetch(at, { ...init, ...(content === undefined ? {} : { body: content }) } as RequestInit);
      const target = response.headers.get("location");
      if (response.status < 300 || response.status >= 400 || target === null) return response;
      await response.body?.cancel();
      at = new URL(target, at).href;
      if (method !== "GET" || hop >= MAX_REDIRECTS)
        throw new EdgewiseError("hub_refused", `${parseUrl(url)?.host ?? "The Hub"} says that what was named is at ${pathOf(at)} now.`, {
          hint: "Name the data set as it is called now.",
        });
    }
  }

  /** Whether an address is of the Hub itself, rather than of where it keeps large files. */
  isOwn(url: string): boolean {
    return parseUrl(url)?.origin === parseUrl(this.endpoint)?.origin;
  }

  #host(): string {
    return parseUrl(this.endpoint)?.host ?? this.endpoint;
  }

  #masked(text: string): string {
    const { token } = this.#place;
    return token === "" ? text : text.replaceAll(token, "[secret]");
  }

  #lost(url: string, reason: string): EdgewiseError {
    return new EdgewiseError("hub_unreachable", `${parseUrl(url)?.host ?? this.#host()} could not be reached: ${reason}`, {
      hint: "Check the network (and HF_ENDPOINT, where it is set); then push again: what has arrived is not sent twice.",
      passing: true,
    });
  }

  async #busy(url: string, response: Response): Promise<EdgewiseError> {
    return new EdgewiseError("hub_unreachable", `${parseUrl(url)?.host ?? this.#host()} is busy or broken (${await this.said(response)}).`, {
      hint: "Push again later: what has arrived is not sent twice.",
      passing: true,
    });
  }
}

/** Addresses of files carry signatures. */
const pathOf = (url: string): string => {
  const parsed = parseUrl(url);
  return parsed === null ? "another place" : `${parsed.origin}${parsed.pathname}`;
};

/** The platform's own failures say nothing; what is below them does. */
function reasonOf(thrown: unknown): string {
  const { cause } = (thrown ?? {}) as { cause?: unknown };
  const inner = cause === undefined ? null : failureOf(cause).message;
  return inner ?? failureOf(thrown).message;
}
