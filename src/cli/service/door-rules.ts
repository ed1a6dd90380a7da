/**
 * What may pass from outside to the local runtime. Besides the Worker it has doors of its own, made for its developers: paths that read the
 * bucket, headers that choose another Worker or replace what is known of the caller. Whatever is not for the app stays outside.
 */
import { SERVICE_ERRORS } from "../../errors/codes.ts";
import type { ErrorBody } from "../../api/errors.ts";

/** First part of every path that the app answers. */
export const APP_PATHS = ["", "api", "beat", "dashboard", "datasets", "embedded", "health", "internal", "shared", "sign-in", "sign-out"] as const;

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

export interface AskedAtDoor {
  readonly method: string;
  /** As it stood in the first line of the request. */
  readonly target: string;
  /** Lower case. */
  readonly headerNames: readonly string[];
}

export interface Refusal {
  readonly status: number;
  readonly body: ErrorBody;
}

/** The path to ask the runtime for, in the one notation of URLs, so that nothing means one thing here and another there; or why not. */
export function passing({ method, target, headerNames }: AskedAtDoor): { readonly path: string } | { readonly refusal: Refusal } {
  if (!METHODS.includes(method)) return refused("invalid_request", `The service knows no method ${method.slice(0, 20)}.`);
  if (headerNames.includes("upgrade")) return { refusal: NO_UPGRADE };
  const own = headerNames.find((name) => name.startsWith("mf-"));
  if (own !== undefined) return refused("invalid_request", `The header ${own.slice(0, 60)} is the runtime's own and is not taken from outside.`);
  // `//host/…` and `http://host/…` name a place; a request to this service names a path.
  if (!/^\/(?![/\\])/.test(target) || !URL.canParse(target, BASE)) return refused("invalid_request", "The request names no path of this service.");
  const { origin, pathname, search } = new URL(target, BASE);
  const [, first = ""] = pathname.split("/");
  if (origin !== BASE || pathname.startsWith("//") || !(APP_PATHS as readonly string[]).includes(first)) return refused("not_found", "No such route.");
  return { path: `${pathname}${search}` };
}

const BASE = "http://localhost";

export function refused(code: keyof typeof SERVICE_ERRORS, detail: string): { readonly refusal: Refusal } {
  return { refusal: { status: SERVICE_ERRORS[code], body: { detail, code } } };
}

export const NO_UPGRADE = refused("invalid_request", "The service speaks HTTP/1.1 and changes to no other protocol.").refusal;

/** The runtime is held by code that does not give the processor back, and is ended soon; `holder` says whose. */
export const heldBy = (holder: string): Refusal => ({
  status: HELD_STATUS,
  body: { detail: `The service is held by ${holder}, which does not end or pause; it is ended and started again in a moment.`, code: "internal" },
});
/** Of all refusals that are no fault of who asks, the only one that the door gives. */
export const HELD_STATUS = 503;

/** Headers that belong to one connection (RFC 9110, 7.6.1), not to what is passed on; and those by which a proxy renames the caller's address. */
const OF_ONE_CONNECTION = new Set([
  "connection",
  // Answered by the door itself.
  "expect",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);
const OF_A_PROXY = new Set(["x-forwarded-proto", "x-forwarded-host", "cf-connecting-ip"]);

/** `raw` as Node has it: names and values by turns. */
export function passedHeaders(raw: readonly string[]): string[] {
  const left = (name: string): boolean => OF_ONE_CONNECTION.has(name) || OF_A_PROXY.has(name);
  return raw.flatMap((name, index) => (index % 2 === 1 || left(name.toLowerCase()) ? [] : [name, raw[index + 1] ?? ""]));
}
