import { DashboardPlace, PATIENCE_MS } from "../../test/support/browser/dashboard-place.ts";
import { until } from "../../test/support/cli/cli-process.ts";
import { startModelServer } from "../../test/support/model-server/model-server.ts";
import type { Ids } from "./shots.ts";

/** What the pages show: runs of the embedded model, one with errors, one that goes on, a schedule and an evaluator with a series. */
export interface Seeded {
  readonly place: DashboardPlace;
  readonly ids: Ids;
  close(): Promise<void>;
}

const EMBEDDED = { api_base_url: "embedded" };
/** Runs of the schedule, and steps of the trainer. */
const STEPS = 4;

const arithmetic = (name: string, temperature: number, difficulty: string) => ({
  ...{ name, environment: "arithmetic", examples: 60, rollouts: 4 },
  body: { inference_model: "edgewise/tiny" },
  config: { ...EMBEDDED, max_concurrent: 16, cache: "read-write", sampling_args: { temperature }, env_args: { difficulty } },
});

/** A service with something to see. `browserPath`: of `findBrowser`. Throws where the service refuses what is asked of it. */
export async function seededPlace(browserPath: string): Promise<Seeded> {
  const place = await DashboardPlace.start(browserPath);
  const silent = await startModelServer({ faults: [{ when: { every: 1 }, fault: { kind: "never" } }] });
  const close = async (): Promise<void> => {
    await place.close();
    await silent.close();
  };
  try {
    return { place, ids: await seed(place, silent.url), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** `silent`: the address of a model that never answers. */
async function seed(place: DashboardPlace, silent: string): Promise<Ids> {
  const whole = await place.create(arithmetic("arithmetic, greedy", 0, "medium"));
  const other = await place.create(arithmetic("arithmetic, warm", 1.2, "medium"));
  for (const difficulty of ["easy", "hard"]) await place.settled(await place.create(arithmetic(`arithmetic, ${difficulty}`, 0.7, difficulty)));
  await Promise.all([place.settled(whole), place.settled(other)]);
  place.model.setScript({
    answer: "reverse",
    accuracy: 0.7,
    latency_ms: [5, 40],
    faults: [
      { when: { every: 9 }, fault: { kind: "context_length" } },
      { when: { every: 7 }, fault: { kind: "empty_choices" } },
    ],
  });
  const failing = await place.create({ name: "reverse-text against a model with faults", examples: 30, rollouts: 3 });
  await place.settled(failing);
  await series(place);
  place.model.setScript({ answer: "reverse", accuracy: 0.8, latency_ms: [500, 2_500] });
  const running = await place.create({ name: "reverse-text, on its way", examples: 400, rollouts: 3, config: { max_concurrent: 8 } });
  const waiting = await place.create({ name: "reverse-text, nothing done yet", config: { api_base_url: silent } });
  // Last: with a budget no run is taken whose price nobody knows.
  await settings(place, whole);
  return { whole, other, failing, running, waiting };
}

const EVAL = { env_id: "arithmetic", env_args: { difficulty: "medium" }, num_examples: 20, rollouts_per_example: 4, ...EMBEDDED };

async function series(place: DashboardPlace): Promise<void> {
  const model = "edgewise/tiny";
  await place.ask("/schedules/nightly", { method: "PUT", body: { cron: "0 3 * * *", time_zone: "Europe/Berlin", eval: { ...EVAL, model } } });
  const evaluations = [{ name: "sums", eval: EVAL, metrics: ["mean_reward", "pass@3"] }];
  await place.ask("/evaluators/loop", { method: "PUT", body: { run_every: 50, evaluations } });
  for (let step = 1; step <= STEPS; step += 1) {
    await place.ask("/schedules/nightly/run", { method: "POST", body: {} });
    await place.ask("/evaluators/loop/steps", { method: "POST", body: { step: step * 50 - 1, model } });
    await idle(place);
  }
}

/** Something in each part of the settings. `run`: what a baseline names. */
async function settings(place: DashboardPlace, run: string): Promise<void> {
  const put = (path: string, body: object): Promise<unknown> => place.ask(path, { method: "PUT", body });
  const post = (path: string, body: object): Promise<unknown> => place.ask(path, { method: "POST", body });
  const url = "https://api.openai.com/v1";
  await post("/tokens", { name: "nightly runs", scopes: ["runs:read", "runs:write"], expires_in: "30d" });
  await post("/tokens", { name: "the dashboard of the team", scopes: ["runs:read"] });
  await post("/secrets/", { name: "JUDGE_API_KEY", value: "no-key", hosts: ["api.openai.com"], description: "what judges are asked with" });
  await post("/environmentshub/arithmetic/secrets", { name: "SEARCH_KEY", value: "no-key" });
  await post("/environmentshub/arithmetic/variables", { name: "SEARCH_HOST", value: "search.example.com" });
  await put("/alerts/oncall", { to: "webhook", url: "https://hooks.example.com/oncall", on: ["run.failed", "drift"], for: ["nightly"] });
  await put("/monitors/trainer", { every: "5m", grace: "1m" });
  await post("/endpoints", { endpoint: [{ endpoint_id: "small", model: "gpt-4.1-mini", url, key: "OPENAI_API_KEY" }] });
  await put("/limits/given/openai", { url, requests_per_minute: 500, tokens_per_minute: 200_000 });
  await put("/budgets/team", { day: 20, month: 300 });
  await put("/baselines/main", { run_id: run });
}

/** Until no run goes on. */
const idle = (place: DashboardPlace): Promise<void> =>
  until(
    async () => (await place.ask<{ total: number }>("/evaluations/?status=PENDING,RUNNING")).total === 0,
    PATIENCE_MS,
    () => "the runs of a series to settle",
  );
