import { BodyTooLarge, readBytes } from "../clients/transport/response-body.ts";
import { isPublicAddress, parseUrl } from "../config/endpoints/addresses.ts";
import { EdgewiseError, failureOf } from "../errors/result.ts";
import type { ByteSource, DatasetHost } from "./host.ts";

const MAX_REDIRECTS = 5;
/** Waits before the further attempts of a read, in milliseconds. */
const WAITS = [1_000, 2_000, 4_000];
const MAX_WAIT_MS = 30_000;

export interface WebRequest {
  /** Sent with the first request, and to the same host only. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly range?: { readonly start: number; readonly end: number };
}

type WebHost = Pick<DatasetHost, "fetch" | "sleep" | "allowPrivate">;

/**
 * GET, with redirects followed by hand (each target is checked, and credentials stay with their host) and busy or broken servers
 * asked again. Gives every answer that is not a redirect, 429 or 5xx as it is; throws `dataset_unreadable` when none came.
 */
export async function webGet(host: WebHost, url: string, request: WebRequest = {}): Promise<Response> {
  for (let attempt = 0; ; attempt++) {
    const wait = WAITS[attempt];
    const outcome = await follow(host, url, request).catch((thrown: unknown) => {
      if (thrown instanceof EdgewiseError) throw thrown;
      return failureOf(thrown).message;
    });
    if (typeof outcome !== "string" && !isBusy(outcome)) return outcome;
    if (wait === undefined) {
      if (typeof outcome !== "string") return outcome;
      throw new EdgewiseError("dataset_unreadable", `The data set ${url} could not be fetched: ${reachText(outcome)}`, {
        hint: `Check the network and the address. A file of this machine needs neither: -a '{"dataset": "rows.jsonl"}'.`,
        passing: true,
      });
    }
    const asked = typeof outcome === "string" ? 0 : retryAfter(outcome);
    if (typeof outcome !== "string") await outcome.body?.cancel();
    await host.sleep(Math.min(MAX_WAIT_MS, Math.max(wait, asked)));
  }
}

/** A server that may answer the same request in a while. */
export const isBusy = ({ status }: { readonly status: number }): boolean => status === 429 || status >= 500;

/** The platform gives failures of its own a number and no reason; what it means here is that no connection came to be. */
const reachText = (reason: string): string => (/^internal error\b/i.test(reason) ? "no connection came to be: no network, or no such host" : reason);

async function follow(host: WebHost, url: string, { headers = {}, range }: WebRequest): Promise<Response> {
  const origin = parseUrl(url)?.origin;
  // Compressed on the way, ranges and lengths would be those of the compressed bytes.
  const plain = { "accept-encoding": "identity", ...(range === undefined ? {} : { range: `bytes=${range.start}-${range.end - 1}` }) };
  let at = url;
  for (let hop = 0; hop <= MAX_REDIRECTS; hop++) {
    checkAddress(at, host.allowPrivate);
    const own = parseUrl(at)?.origin === origin ? headers : {};
    const response = await host.fetch(at, { headers: { ...plain, ...own }, redirect: "manual" });
    const target = response.headers.get("location");
    if (response.status < 300 || response.status >= 400 || target === null) return response;
    await response.body?.cancel();
    at = new URL(target, at).href;
  }
  throw new EdgewiseError("dataset_unreadable", `The data set ${url} was redirected more than ${MAX_REDIRECTS} times.`);
}

function checkAddress(url: string, allowPrivate: boolean): void {
  const { protocol } = parseUrl(url) ?? { protocol: "" };
  if (allowPrivate ? protocol === "https:" || protocol === "http:" : protocol === "https:" && isPublicAddress(url)) return;
  throw new EdgewiseError("dataset_unreadable", `The data set is at ${url.slice(0, 200)}, which is not a public https address.`);
}

/** Milliseconds; 0 when the server names none. */
function retryAfter(response: Response): number {
  const seconds = Number(response.headers.get("retry-after") ?? "");
  return Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : 0;
}

/** A file of the web. `refused`: what a status means here, for a person; default: its number. */
export function webSource(
  host: WebHost,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  refused?: (response: Response) => EdgewiseError,
): ByteSource {
  const get = async (range?: { start: number; end: number }): Promise<Response> => {
    const response = await webGet(host, url, range === undefined ? { headers } : { headers, range });
    if (response.ok && response.body !== null) return response;
    await response.body?.cancel();
    throw (
      refused?.(response) ??
      new EdgewiseError("dataset_unreadable", `The data set ${url} answered with status ${response.status}.`, { passing: isBusy(response) })
    );
  };
  const partial = async (start: number, end: number): Promise<Response> => {
    const response = await get({ start, end });
    if (response.status === 206) return response;
    await response.body?.cancel();
    throw new EdgewiseError("dataset_unreadable", `${url} cannot be read in parts, which Parquet needs: its server ignores ranges.`, {
      hint: "Download the file and give its path, or use JSONL.",
    });
  };
  let size: Promise<number> | null = null;
  const measure = async (): Promise<number> => {
    const response = await partial(0, 1);
    await response.body?.cancel();
    const total = /\/(\d+)$/.exec(response.headers.get("content-range") ?? "")?.[1];
    if (total === undefined) throw new EdgewiseError("dataset_unreadable", `The server of ${url} does not say how long the file is.`);
    return Number(total);
  };
  return {
    name: url,
    open: async () => (await get()).body ?? new Blob([]).stream(),
    size: () => (size ??= measure()),
    async read(start, end) {
      const sent = await readBytes(await partial(start, end), end - start).catch((thrown: unknown) => {
        if (thrown instanceof BodyTooLarge) return thrown.message;
        throw thrown;
      });
      if (typeof sent !== "string" && sent.byteLength === end - start) return sent.buffer;
      const came = typeof sent === "string" ? sent : `${sent.byteLength} bytes`;
      throw new EdgewiseError("dataset_unreadable", `The server of ${url} sent ${came} where ${end - start} were asked for.`, {
        passing: typeof sent !== "string",
      });
    },
  };
}
