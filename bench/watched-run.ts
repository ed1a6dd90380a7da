import { setTimeout as sleep } from "node:timers/promises";
import type { Service } from "./edgewise-process.ts";
import { create, getJson, settled } from "./http-run.ts";
import type { ModelProcess } from "./model-process.ts";
import { type StatesSeen, startStateFollowers } from "./state-follow-process.ts";

/** Ten seconds and more of a server that answers at once: what it takes to open the pages, and to end the run, is no part of what is measured, or a small one. */
export const ROLLOUTS = 40_000;
const CONCURRENCY = 64;
/** Of the run; from here on it is measured. */
const WARM = 0.2;
/** A run that is as far when all its pages are open has too little left. */
const LATEST = 0.6;
const LOOK_MS = 500;
const SOON_MS = 50;

export interface Watched {
  /** Rollouts per second, from when all pages are open to the last commit. */
  readonly rate: number;
  /** Processor time of the service for each rollout of that time, in microseconds. */
  readonly processor: number;
  readonly seen: StatesSeen | null;
}

interface Standing {
  readonly edgewise: { readonly done_rollouts: number };
}

/** One run with so many pages of it open, from before it is measured to its end. `look`: what looks at it beside them. */
export async function watchedRun(service: Service, model: ModelProcess, pages: number, look?: (id: string) => Promise<void>): Promise<Watched> {
  const { url } = service;
  await model.clear();
  const id = await create({ url, modelUrl: model.url, examples: ROLLOUTS, concurrency: CONCURRENCY });
  const following = pages === 0 ? null : await startStateFollowers(url, id, pages);
  await look?.(id);
  let done = 0;
  for (;;) {
    ({ done_rollouts: done } = ((await getJson(`${url}/api/v1/evaluations/${id}`)) as Standing).edgewise);
    if (done >= WARM * ROLLOUTS) break;
    await sleep(SOON_MS);
  }
  if (done > LATEST * ROLLOUTS) throw new Error(`${done} of ${ROLLOUTS} rollouts were done when ${pages} pages were open`);
  const from = { at: Date.now(), processor: service.processorTime() };
  const { status, finalized_at } = await settled(url, id, LOOK_MS);
  const processor = service.processorTime() - from.processor;
  if (status !== "COMPLETED") throw new Error(`the run ended ${status}`);
  const seen = (await following?.seen()) ?? null;
  if (seen !== null && seen.complete !== pages) throw new Error(`${seen.complete} of ${pages} pages were told of the end`);
  const rest = ROLLOUTS - done;
  return { rate: (rest * 1_000) / (Date.parse(finalized_at) - from.at), processor: (processor * 1e6) / rest, seen };
}
