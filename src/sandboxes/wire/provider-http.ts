import { BodyTooLarge, readBytes, readText } from "../../clients/transport/response-body.ts";
import { EdgewiseError } from "../../errors/result.ts";
import { SandboxError } from "../../errors/rollout-errors.ts";
import { KIB, MIB } from "../../limits.ts";
import type { DriverHost } from "../driver.ts";

/** A provider answered with a status that is no success. */
export class ProviderRefusal extends SandboxError {
  override readonly name: string = "SandboxError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }

  /** The same may go well in a while. */
  get isPassing(): boolean {
    return (this.status >= 500 && !this.message.includes("was not found")) || PASSING.includes(this.status);
  }
}

/** Too early, too many, or in the way of something else. */
const PASSING: readonly number[] = [408, 409, 425, 429];

/** How long a provider may take to answer anything but a command. Milliseconds: what its own client allows. */
const REQUEST_MS = 60_000;
const MAX_JSON_BYTES = 4 * MIB;
const MAX_ERROR_BYTES = 16 * KIB;

export interface ProviderRequest {
  readonly method: "GET" | "POST" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | FormData | Uint8Array<ArrayBuffer> | undefined;
  readonly signal?: AbortSignal | null | undefined;
  /** Until the answer begins, or of all of it; default 60,000. */
  readonly timeoutMs?: number | undefined;
  /** The answer goes on for as long as it takes, once it has begun. */
  readonly streams?: boolean;
  /** Of a provider's own API, where its package follows redirects; else none is followed: what runs in a sandbox may answer, and would choose the address. */
  readonly follows?: boolean;
}

/** One request to a provider. Throws a `SandboxError` where it does not answer in time, a `ProviderRefusal` where it refuses, and the signal's reason. */
export async function ask({ fetch }: Pick<DriverHost, "fetch">, provider: string, url: string, request: ProviderRequest): Promise<Response> {
  const { method, headers, body, signal = null, timeoutMs = REQUEST_MS, streams = false, follows = false } = request;
  signal?.throwIfAborted();
  const timer = new AbortController();
  const late = streams ? timer.signal : AbortSignal.timeout(timeoutMs);
  const timeout = streams ? setTimeout(() => timer.abort(new Error("it is late")), timeoutMs) : undefined;
  let response: Response;
  try {
    response = await fetch(url, {
      method,
      headers: { ...headers },
      ...(body === undefined ? {} : { body }),
      signal: signal === null ? late : AbortSignal.any([signal, late]),
      redirect: follows ? "follow" : "manual",
    });
  } catch (cause) {
    signal?.throwIfAborted();
    if (cause instanceof EdgewiseError) throw cause;
    throw new SandboxError(late.aborted ? `${provider} did not answer within ${timeoutMs / 1_000} s` : `${provider} cannot be reached: ${textOf(cause)}`, {
      cause,
    });
  } finally {
    clearTimeout(timeout);
  }
  if (response.ok) return response;
  throw new ProviderRefusal(response.status, `${provider} answered ${response.status}${await said(response)}`);
}

/** The answer as JSON. */
export async function jsonOf(provider: string, response: Response): Promise<unknown> {
  try {
    const text = await readText(response, MAX_JSON_BYTES);
    return text === "" ? {} : JSON.parse(text);
  } catch (cause) {
    throw new SandboxError(`the answer of ${provider} cannot be read: ${textOf(cause)}`, { cause });
  }
}

/** The answer's bytes, of which there may be `most`. */
export async function bytesOf(provider: string, response: Response, most: number): Promise<Uint8Array> {
  try {
    return await readBytes(response, most);
  } catch (cause) {
    if (cause instanceof BodyTooLarge) throw new SandboxError(`the file has more than ${most} bytes, which is the most that is taken out of a sandbox`);
    throw new SandboxError(`the answer of ${provider} broke off: ${textOf(cause)}`, { cause });
  }
}

/** What a refusal says of itself. */
async function said(response: Response): Promise<string> {
  const text = await readText(response, MAX_ERROR_BYTES).catch(() => "");
  try {
    const { detail, message, error } = JSON.parse(text) as Record<string, unknown>;
    const words = [detail, message, error].find((each) => typeof each === "string");
    return words === undefined ? `: ${text.slice(0, 500)}` : `: ${String(words).slice(0, 500)}`;
  } catch {
    return text.trim() === "" ? "" : `: ${text.trim().slice(0, 500)}`;
  }
}

export const textOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown));
export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> => typeof value === "object" && value !== null && !Array.isArray(value);

/** A text of an answer. Throws a `SandboxError` that names what is missing. */
export function textIn(provider: string, answer: unknown, field: string): string {
  const value = isRecord(answer) ? answer[field] : undefined;
  if (typeof value !== "string" || value === "") throw new SandboxError(`an answer of ${provider} has no ${field}`);
  return value;
}
