import { setTimeout as sleep } from "node:timers/promises";
import { startService } from "../edgewise-process.ts";
import { getJson } from "../http-run.ts";
import type { Measure } from "../measure.ts";
import { startModelProcess } from "../model-process.ts";
import type { Scenario } from "../scenario.ts";

const SCHEDULES = 500;
/** Time to make all of them before they are due. */
const AHEAD_MS = 60_000;
const AT_ONCE = 8;
const MINUTE_MS = 60_000;
const PATIENCE_MS = 5 * MINUTE_MS;
const PAGE = 1_000;

interface Listed {
  readonly data: readonly {
    readonly last: { readonly outcome: string; readonly at: string; readonly due_at: string } | null;
    readonly active: object | null;
  }[];
}

/** Schedules that are all due in one minute: each has its run, and the last of them is created within a minute. */
export const schedules: Scenario = async (places) => {
  const model = await startModelProcess();
  const service = await startService(places("schedules"));
  try {
    const due = new Date(Math.ceil((Date.now() + AHEAD_MS) / MINUTE_MS) * MINUTE_MS);
    const body = JSON.stringify({
      cron: `${due.getUTCMinutes()} ${due.getUTCHours()} * * *`,
      // What counts is their creation: the model is a process of its own, which takes nothing from it.
      eval: { env_id: "arithmetic", model: "scripted", api_base_url: model.url, num_examples: 1, rollouts_per_example: 1 },
    });
    const began = performance.now();
    let next = 0;
    const add = async (): Promise<void> => {
      for (let at = next++; at < SCHEDULES; at = next++) {
        const response = await fetch(`${service.url}/api/v1/schedules/nightly-${at}`, { method: "PUT", headers: { "content-type": "application/json" }, body });
        if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
        await response.arrayBuffer();
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, add));
    const added = (performance.now() - began) / 1000;
    if (Date.now() > due.getTime()) throw new Error("they were due before all of them were there");
    let begun: number[] = [];
    for (const end = due.getTime() + PATIENCE_MS; begun.length < SCHEDULES; await sleep(1_000)) {
      if (Date.now() > end) throw new Error(`${begun.length} of ${SCHEDULES} have their run`);
      if (Date.now() < due.getTime()) continue;
      const { data } = (await getJson(`${service.url}/api/v1/schedules`)) as Listed;
      begun = data.flatMap(({ last }) => (last?.outcome === "run" ? [Date.parse(last.at) - due.getTime()] : []));
    }
    const { total } = (await getJson(`${service.url}/api/v1/evaluations/?limit=${PAGE}`)) as { total: number };
    const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "schedules", name, value, unit });
    return [
      measure(`${SCHEDULES} schedules added`, added, "s"),
      { ...measure("runs of their one due time", total, ""), target: { at_most: SCHEDULES } },
      { ...measure("the last run created after it was due", Math.max(...begun) / 1000, "s"), target: { at_most: 60 } },
      measure("the first", Math.min(...begun) / 1000, "s"),
    ];
  } finally {
    await service.close();
    await model.close();
  }
};
