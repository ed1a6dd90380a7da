import type { Viewer } from "../viewer.ts";
import { type Problem, problemOf, UNREACHABLE } from "./problem.ts";

/** Everything that a page shows comes from the HTTP API that everybody has, through here. */

export type Asked<T> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly problem: Problem };

const BROKEN_OFF: Problem = { ...UNREACHABLE, text: "The service broke its answer off." };

/** The bytes of an opened answer, all of them. */
export async function wholeOf(response: Response): Promise<Asked<ArrayBuffer>> {
  try {
    return { ok: true, value: await response.arrayBuffer() };
  } catch {
    return { ok: false, problem: BROKEN_OFF };
  }
}

export interface Question {
  readonly method?: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Left out where it is undefined. */
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export type Fetch = (url: string, init: RequestInit) => Promise<Response>;

export class Api {
  readonly #viewer: Viewer;
  readonly #fetch: Fetch;
  constructor(viewer: Viewer, fetch: Fetch) {
    this.#viewer = viewer;
    this.#fetch = fetch;
  }

  /** The JSON of an answer. `path`: below `/api/v1`. Rejects only where the question is given up. */
  async ask<T>(path: string, question: Question = {}): Promise<Asked<T>> {
    const opened = await this.open(path, question);
    if (!opened.ok) return opened;
    try {
      return { ok: true, value: (await opened.value.json()) as T };
    } catch (error) {
      if (question.signal?.aborted) throw error;
      return { ok: false, problem: BROKEN_OFF };
    }
  }

  /** An answer that is read as it comes. */
  async open(path: string, { method = "GET", query = {}, body, headers = {}, signal }: Question = {}): Promise<Asked<Response>> {
    const sent: Record<string, string> = { accept: "application/json", "x-edgewise-team": this.#viewer.team, ...headers };
    if (method !== "GET") {
      sent["content-type"] = "application/json";
      if (this.#viewer.csrf !== "") sent["x-edgewise-csrf"] = this.#viewer.csrf;
    }
    const init: RequestInit = { method, headers: sent, credentials: "same-origin", cache: "no-store", ...(signal === undefined ? {} : { signal }) };
    try {
      const response = await this.#fetch(`/api/v1${path}${searchOf(query)}`, method === "GET" ? init : { ...init, body: JSON.stringify(body ?? {}) });
      return response.ok ? { ok: true, value: response } : { ok: false, problem: problemOf(response.status, await response.text()) };
    } catch (error) {
      if (signal?.aborted) throw error;
      return { ok: false, problem: UNREACHABLE };
    }
  }
}

function searchOf(query: NonNullable<Question["query"]>): string {
  const given = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)] as const]));
  return given.length === 0 ? "" : `?${new URLSearchParams(Object.fromEntries(given))}`;
}
