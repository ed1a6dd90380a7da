import type { DashboardPlace } from "./dashboard-place.ts";

/** Of a schedule, `nightly`, and an evaluator, `loop`, that make no run by themselves while a test lasts; and of each part of the settings that a form makes, one thing. */
export async function keepThings(place: DashboardPlace): Promise<void> {
  const asked = { env_id: "reverse-text", num_examples: 1, api_base_url: place.model.url, api_key_var: "PRIME_API_KEY" };
  const put = (path: string, body: object): Promise<unknown> => place.ask(path, { method: "PUT", body });
  const post = (path: string, body: object): Promise<unknown> => place.ask(path, { method: "POST", body });
  await put("/schedules/nightly", { cron: "0 3 * * *", time_zone: "UTC", eval: { ...asked, model: "scripted" } });
  await put("/evaluators/loop", { run_every: 50, evaluations: [{ name: "sums", eval: asked, metrics: ["mean_reward"] }] });
  await post("/tokens", { name: "of the night", scopes: ["runs:read"], expires_in: "30d" });
  await post("/secrets/", { name: "JUDGE_API_KEY", value: "sk-of-the-judge", hosts: ["api.example.com"] });
  await put("/monitors/trainer", { every: "5m" });
  await put("/alerts/oncall", { to: "webhook", url: "https://hooks.example.com/oncall", on: ["run.failed"] });
  await post("/endpoints", { endpoint: [{ endpoint_id: "checkpoint", model: "m", url: place.model.url, key: "PRIME_API_KEY" }] });
}
