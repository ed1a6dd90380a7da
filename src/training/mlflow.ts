import { statusProblem } from "../alerts/answer.ts";
import { beginningOf } from "../beginning-of.ts";
import { EdgewiseError } from "../errors/result.ts";
import type { MlflowTarget } from "./definition.ts";
import type { Point } from "./series.ts";
import type { Sink } from "./sink.ts";

/**
 * MLflow's REST API: `POST /api/2.0/mlflow/runs/log-batch` with `{run_id, metrics: [{key, value, timestamp, step}]}`, at most 1,000 metrics and 1 MB in a request
 * (mlflow.org, "REST API"). The server keeps one of two metrics that agree in all of it, so that what is sent again changes nothing.
 */

const MOST_METRICS = 500;
/** Of all requests of a turn together: it is within the 30 s that work may go on behind a batch of the queue. */
const TIMEOUT_MS = 20_000;
/** Of an answer that refuses. */
const READ_CHARS = 4 * 1024;

export interface MlflowBatch {
  readonly run_id: string;
  readonly metrics: readonly { readonly key: string; readonly value: number; readonly timestamp: number; readonly step: number }[];
}

/** The end of a bucket's name, whose key and value may have escaped characters (breakdown-names.ts). */
const BUCKET = /\[((?:[^\\\]=[]|\\.)*)=((?:[^\\\]=[]|\\.)*)\]$/;

/** Each character that MLflow does not take by its number, so that no two values become one. */
const written = (text: string): string =>
  text.replaceAll(/\\(.)/g, "$1").replaceAll(/[^\w.-]/gu, (character) => `_x${(character.codePointAt(0) ?? 0).toString(16)}_`);

/** MLflow takes letters, digits and `_ - . /` in names, in all versions; what else stands in one is written out or becomes `_`. `pass_at_3` is another metric than `pass@3`. */
export const mlflowKey = (name: string): string =>
  name
    .replaceAll("pass@", "pass_at_first_")
    .replaceAll("pass^", "pass_all_first_")
    .replace(BUCKET, (_, key: string, value: string) => `/${written(key)}/${written(value)}`)
    .replaceAll(/[^\w./-]/g, "_")
    .slice(0, 250);

/** The requests that points come to, in their order. */
export function mlflowBatches(run_id: string, points: readonly Point[]): MlflowBatch[] {
  const metrics = points.map(({ name, value, at, step }) => ({ key: mlflowKey(name), value, timestamp: at, step }));
  const batches: MlflowBatch[] = [];
  for (let first = 0; first < metrics.length; first += MOST_METRICS) batches.push({ run_id, metrics: metrics.slice(first, first + MOST_METRICS) });
  return batches;
}

/** What MLflow calls a refusal, such as `RESOURCE_DOES_NOT_EXIST` for a run that it has not; null where the answer says none. Nothing else of an answer is passed on. */
function errorCode(text: string, token: string | null): string | null {
  try {
    const { error_code } = JSON.parse(text) as { readonly error_code?: unknown };
    return typeof error_code === "string" && /^[A-Z_]{1,64}$/.test(error_code) && error_code !== token ? error_code : null;
  } catch {
    return null;
  }
}

type Fetch = (url: string, init: RequestInit) => Promise<Response>;

/** A tracking server. What it rejects with names the server's origin, and never what was sent. */
export class MlflowSink implements Sink {
  readonly #target: MlflowTarget;
  readonly #token: string | null;
  readonly #fetch: Fetch;
  readonly #within: number;

  constructor(target: MlflowTarget, token: string | null, send: Fetch, within = TIMEOUT_MS) {
    this.#target = target;
    this.#token = token;
    this.#fetch = send;
    this.#within = within;
  }

  async post(points: readonly Point[]): Promise<void> {
    const signal = AbortSignal.timeout(this.#within);
    for (const batch of mlflowBatches(this.#target.run_id, points)) await this.#send(batch, signal);
  }

  async #send(batch: MlflowBatch, signal: AbortSignal): Promise<void> {
    const { tracking_uri } = this.#target;
    const { origin } = new URL(tracking_uri);
    const headers = { "content-type": "application/json", ...(this.#token === null ? {} : { authorization: `Bearer ${this.#token}` }) };
    let status: number;
    let code: string | null = null;
    try {
      // Redirects could lead where the address was never checked.
      const response = await this.#fetch(`${tracking_uri}/api/2.0/mlflow/runs/log-batch`, {
        method: "POST",
        headers,
        body: JSON.stringify(batch),
        redirect: "manual",
        signal,
      });
      ({ status } = response);
      if (status < 300) await response.body?.cancel();
      else code = errorCode(await beginningOf(response, READ_CHARS), this.#token);
    } catch {
      // What was thrown may name the whole URL.
      throw new EdgewiseError("connection_failed", signal.aborted ? `${origin} did not answer within ${this.#within / 1_000} s` : `no connection to ${origin}`);
    }
    const problem = statusProblem(status);
    if (problem !== null) throw new EdgewiseError("provider_error", `${origin} ${problem}${code === null ? "" : ` (${code})`}`);
  }
}
