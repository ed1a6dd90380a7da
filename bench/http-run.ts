import { setTimeout as sleep } from "node:timers/promises";

/** A run created and watched over HTTP, as a program does it. */
export interface HttpRun {
  readonly url: string;
  /** Absent = the service's own. */
  readonly modelUrl?: string;
  readonly examples: number;
  readonly concurrency: number;
  /** Absent = `reverse-text`. */
  readonly environment?: string;
  /** Of each example; absent = 1. */
  readonly rollouts?: number;
  /** Arguments of its sampling. */
  readonly sampling?: object;
  /** Of a service that asks for it. */
  readonly token?: string;
}

const bearer = (token: string | undefined): Record<string, string> => (token === undefined ? {} : { authorization: `Bearer ${token}` });

export interface Settled {
  readonly status: string;
  /** When the last rollout was committed, ISO 8601. */
  readonly finalized_at: string;
}

/** Gives its id. */
export async function create({ url, modelUrl, environment = "reverse-text", examples, concurrency, rollouts = 1, sampling, token }: HttpRun): Promise<string> {
  const body = {
    environment_ids: [environment],
    inference_model: "scripted",
    eval_config: {
      num_examples: examples,
      rollouts_per_example: rollouts,
      max_concurrent: concurrency,
      ...(sampling === undefined ? {} : { sampling_args: sampling }),
      ...(modelUrl === undefined ? {} : { api_base_url: modelUrl }),
    },
  };
  const response = await fetch(`${url}/api/v1/hosted-evaluations`, {
    method: "POST",
    headers: { "content-type": "application/json", ...bearer(token) },
    body: JSON.stringify(body),
  });
  const answer = (await response.json()) as { evaluation_id?: string };
  if (answer.evaluation_id === undefined) throw new Error(`the run was not created: ${JSON.stringify(answer)}`);
  return answer.evaluation_id;
}

/** Looks every `everyMs` until the run has settled; each look is a call on the Run that is counted. */
export async function settled(url: string, id: string, everyMs: number): Promise<Settled> {
  const deadline = Date.now() + 10 * 60_000;
  for (;;) {
    const evaluation = (await getJson(`${url}/api/v1/evaluations/${id}`)) as Settled & { edgewise: { settled: boolean } };
    if (evaluation.edgewise.settled) return evaluation;
    if (Date.now() > deadline) throw new Error(`the run is not over: ${JSON.stringify(evaluation.edgewise)}`);
    await sleep(everyMs);
  }
}

/** What is open ends, and nothing new begins. */
export async function cancel(url: string, id: string): Promise<void> {
  const response = await fetch(`${url}/api/v1/hosted-evaluations/${id}/cancel`, { method: "PATCH" });
  if (!response.ok) throw new Error(`run ${id} is not cancelled: ${response.status} ${await response.text()}`);
}

export async function getJson(url: string, token?: string): Promise<unknown> {
  const response = await fetch(url, { headers: bearer(token) });
  if (!response.ok) throw new Error(`${url}: ${response.status} ${await response.text()}`);
  return response.json();
}
