import type { z } from "zod";
import { BodyTooLarge, readText } from "../../clients/transport/response-body.ts";
import { MAX_HUB_ANSWER_BYTES, MAX_ROW_DEPTH } from "../../limits.ts";
import { parseShallow } from "../../config/json-depth.ts";
import { parseUrl } from "../../config/endpoints/addresses.ts";
import { EdgewiseError } from "../../errors/result.ts";
import type { DatasetHost, HubAccess } from "../host.ts";
import { isBusy, webGet } from "../web.ts";

export type HubAnswer<T> = { readonly ok: true; readonly value: T; readonly revision: string | null } | { readonly ok: false; readonly refusal: EdgewiseError };

/** An answer of the Hub as `schema` has it, or what it refused. Throws where refusing anything else would be the same (no access, no network). */
export async function hubJson<T>(host: DatasetHost, url: string, schema: z.ZodType<T>, id: string): Promise<HubAnswer<T>> {
  const response = await webGet(host, url, { headers: hubHeaders(host.hub, url) });
  const text = await readText(response, MAX_HUB_ANSWER_BYTES).catch((thrown: unknown) => {
    if (!(thrown instanceof BodyTooLarge)) throw thrown;
    throw new EdgewiseError("dataset_unreadable", `${parseUrl(url)?.host ?? "The Hub"} answered for ${id} with ${thrown.message}.`);
  });
  if (!response.ok) {
    const refusal = hubRefusal(host.hub, id, response.status, messageOf(text));
    if (response.status === 401 || response.status === 403) throw refusal;
    return { ok: false, refusal };
  }
  const parsed = schema.safeParse(jsonOf(text));
  // The Hub names the commit a converted file was made from.
  if (parsed.success) return { ok: true, value: parsed.data, revision: response.headers.get("x-revision") };
  const refusal = new EdgewiseError(
    "dataset_unreadable",
    `${parseUrl(url)?.host ?? "The Hub"} answered for ${id} with something else than ${new URL(url).pathname} should.`,
  );
  return { ok: false, refusal };
}

/** The token, for the two hosts of the Hub and no other. */
export function hubHeaders(hub: HubAccess, url: string): Readonly<Record<string, string>> {
  const origin = parseUrl(url)?.origin;
  const own = [hub.endpoint, hub.viewer].some((each) => parseUrl(each)?.origin === origin);
  return own && hub.token !== null ? { authorization: `Bearer ${hub.token}` } : {};
}

/** What a status of the Hub means for a person. It answers 401 and 404 alike for what does not exist and what may not be seen. */
export function hubRefusal({ token }: HubAccess, id: string, status: number, message: string | null): EdgewiseError {
  const said = message === null ? "" : `: ${message}`;
  if (status === 401 || status === 403 || status === 404) {
    const hint =
      token === null
        ? "Check the name. For a gated or private data set set HF_TOKEN, after its terms were accepted on its page."
        : "Check the name, and that the account of HF_TOKEN may read it (terms of a gated set are accepted on its page).";
    return new EdgewiseError("dataset_unreadable", `The data set ${id} is not to be had (status ${status})${said}`, { hint });
  }
  return new EdgewiseError("dataset_unreadable", `The Hugging Face Hub refused ${id} with status ${status}${said}`, {
    hint: "Try again later, or download the data and give its path.",
    passing: isBusy({ status }),
  });
}

function messageOf(text: string): string | null {
  const { error } = (jsonOf(text) ?? {}) as { error?: unknown };
  return typeof error === "string" ? error.slice(0, 300) : null;
}

function jsonOf(text: string): unknown {
  try {
    return parseShallow(text, MAX_ROW_DEPTH);
  } catch {
    return null;
  }
}
