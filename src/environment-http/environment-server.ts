import { beginningOf } from "../beginning-of.ts";
import { scrubber, shownUrl } from "../clients/secrets.ts";
import { failureOfNetwork, failureOfStatus, isWebPage } from "../clients/transport/request-failure.ts";
import { parseShallow } from "../config/json-depth.ts";
import type { EnvironmentFetch } from "../environments/definition/definition.ts";
import { EdgewiseError } from "../errors/result.ts";

/** Where an environment's code can be reached. */
export interface EnvironmentPlace {
  /** Base URL, without a slash at its end. */
  readonly url: string;
  /** Goes into the `Authorization` header and nowhere else. */
  readonly token: string;
}

/** What a request failed with; messages go on from the server's address. */
export interface Refused {
  readonly message: string;
  /** 0: no answer came. */
  readonly status: number;
  /** The same may go well in a while: nobody answers, or the server is busy. */
  readonly passing: boolean;
}

const OTHER_TOKEN = "Its token is the one that it was started with (EDGEWISE_ENV_TOKEN there, or what it printed): link it with that one, by --token-var NAME.";

/** Characters read of a refusal. */
const MAX_REFUSAL = 4_000;

/** Busy, starting, behind a gateway that does not reach it: all else that is refused would be refused again. */
const isPassingStatus = (status: number): boolean => [408, 425, 429].includes(status) || status >= 500;

/** It is there and does not take the token: asking again changes nothing, before the link is made anew. */
export class TokenRefused extends EdgewiseError {}

export const isTokenRefusal = (status: number): boolean => status === 401 || status === 403;

/** The server of an environment: requests with its token, and what is wrong with answers in words that do not hold it. */
export class EnvironmentServer {
  /** The address as messages name it. */
  readonly shown: string;
  readonly #url: string;
  readonly #token: string;
  readonly #fetch: EnvironmentFetch;
  readonly #scrub: (text: string) => string;

  constructor({ url, token }: EnvironmentPlace, fetch: EnvironmentFetch) {
    this.#url = url;
    this.#token = token;
    this.#fetch = fetch;
    this.#scrub = scrubber(token, {});
    this.shown = this.#scrub(shownUrl(url).replace(/\/$/, ""));
  }

  /** The answer whatever its status; what kept it from coming, where none came. */
  async ask(method: "GET" | "POST", path: string, { signal, body }: { readonly signal: AbortSignal; readonly body?: string }): Promise<Response | Refused> {
    const headers: Record<string, string> = {
      authorization: `Bearer ${this.#token}`,
      // A proxy that packs a stream holds it back.
      "accept-encoding": "identity",
      ...(body === undefined ? {} : { "content-type": "application/json" }),
    };
    try {
      // A redirect would carry the token to an address that nobody named.
      return await this.#fetch(`${this.#url}${path}`, { method, headers, signal, redirect: "manual", ...(body === undefined ? {} : { body }) });
    } catch (thrown) {
      return { message: `cannot be reached: ${failureOfNetwork(thrown, false, this.#scrub).message}`, status: 0, passing: true };
    }
  }

  /** What an answer says that is not the one asked for. Reads it. */
  async refusal(response: Response): Promise<Refused> {
    const { status, headers } = response;
    const text = await beginningOf(response, MAX_REFUSAL);
    const contentType = headers.get("content-type");
    const passing = isPassingStatus(status);
    if (isWebPage(text, contentType))
      return { status, passing, message: `answered HTTP ${status} with a web page: it is no environment server, or something stands before it` };
    const { message: said } = failureOfStatus({ status, body: parsed(text), headers }, {}, this.#scrub, 0);
    if (isTokenRefusal(status)) return { status, passing, message: `refuses the token of the link: ${said}` };
    if (status === 404) return { status, passing, message: `knows no such address: ${said}` };
    if (status >= 300 && status < 400) return { status, passing, message: `sends on to another address, where the token is not sent: HTTP ${status}` };
    return { status, passing, message: `answered ${said}` };
  }

  /** The text of somebody else without the token, and short. */
  clean(text: string): string {
    return this.#scrub(text);
  }

  /** Why an environment cannot be asked or loaded there. */
  failure({ message, passing, status = 0 }: Omit<Refused, "status"> & Partial<Pick<Refused, "status">>): EdgewiseError {
    const told = `the environment server ${this.shown} ${message}`;
    return isTokenRefusal(status)
      ? new TokenRefused("environment_failed", told, { passing, hint: OTHER_TOKEN })
      : new EdgewiseError("environment_failed", told, { passing });
  }
}

/** Where it is none, the text itself. */
function parsed(text: string): unknown {
  try {
    return parseShallow(text);
  } catch {
    return text;
  }
}

export const isRefused = (answer: Response | Refused): answer is Refused => !(answer instanceof Response);
