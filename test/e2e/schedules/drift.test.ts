import { afterAll, beforeAll, expect, it } from "vitest";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

interface Shown {
  readonly definition: { readonly drift: Record<string, unknown> };
  readonly drift: { readonly verdict: string; readonly since: string | null; readonly baseline_runs: readonly string[] } | null;
  readonly series: readonly {
    readonly run_id: string | null;
    readonly reward_ci95: readonly number[] | null;
    readonly drift: { readonly verdict: string } | null;
  }[];
  readonly events: readonly { readonly type: string; readonly detail: Record<string, unknown> }[];
}

let place: Workplace;
let model: ModelServer;
/** Serves what goes by the same name, and is worse. */
let worseModel: ModelServer;
let served: Served;
beforeAll(async () => {
  place = new Workplace();
  [model, worseModel] = await Promise.all([startModelServer({ accuracy: 1 }), startModelServer({ accuracy: 0.3 })]);
  served = new Served(place);
  await served.start();
});
afterAll(async () => {
  await served.end("SIGKILL");
  place.remove();
  await Promise.all([model.close(), worseModel.close()]);
});

const shown = async (name = "nightly"): Promise<Shown> => ((await (await served.ask(`/schedules/${name}`)).json()) as { data: Shown }).data;
const cli = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await place.run(["schedule", ...args]);
  expect(code, stderr).toBe(0);
  return stdout;
};

async function put(path: string, body: object): Promise<void> {
  const response = await fetch(`${served.url}/api/v1${path}`, { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });
  expect(response.status, await response.text()).toBe(200);
}
/** The endpoint that the schedule names is this server from now on. */
const servedBy = ({ url }: ModelServer): Promise<void> => put("/endpoints/checkpoint", { endpoint: [{ model: "scripted", url, key: "PRIME_API_KEY" }] });

it("a series whose model gets worse says so, since which run, and is steady again when the model is", { timeout: 180_000 }, async () => {
  await servedBy(model);
  await put("/schedules/nightly", {
    every: "30d",
    drift: { first: 2, false_alarms: 2 },
    eval: { env_id: "reverse-text", endpoint_id: "checkpoint", num_examples: 20, rollouts_per_example: 1 },
  });
  let runs = 0;
  /** So many runs more, one after another, each with what is said of it. */
  const play = async (count: number): Promise<readonly string[]> => {
    runs += count;
    for (let i = 0; i < count; i++) await served.ask("/schedules/nightly/run", {});
    const settled = ({ series }: Shown): boolean => series.length === runs && series.every(({ drift }) => drift !== null && drift.verdict !== "waiting");
    await until(
      async () => settled(await shown()),
      60_000,
      () => `${runs} runs with a verdict`,
    );
    return (await shown()).series
      .slice(0, count)
      .reverse()
      .map(({ drift }) => drift?.verdict ?? "none");
  };
  expect(await play(5)).toEqual(["gathering", "gathering", "steady", "steady", "steady"]);
  await servedBy(worseModel);
  const worse = await play(3);
  expect(worse.at(-1)).toBe("worse");
  const { drift, series } = await shown();
  const { edgewise } = (await (await served.ask(`/evaluations/${series[0]?.run_id}`)).json()) as { edgewise: { reward_ci95: readonly number[] } };
  expect([series[0]?.reward_ci95, edgewise.reward_ci95]).toEqual([edgewise.reward_ci95, [expect.any(Number), expect.any(Number)]]);
  expect(drift).toMatchObject({ verdict: "worse", since: series[2]?.run_id, baseline_runs: [series.at(-1)?.run_id, series.at(-2)?.run_id] });
  await servedBy(model);
  expect((await play(4)).at(-1)).toBe("steady");
  expect((await shown()).events.map(({ type }) => type).filter((type) => type.startsWith("drift."))).toEqual(["drift.steady", "drift.worse"]);
  expect(await cli("get", "nightly")).toMatch(/Drift.*steady.*reward against the first 2.*Reward: .*DRIFT.*worse -0\.\d{3}/s);
  const [{ run_id } = { run_id: null }] = (await shown()).series;
  expect((await place.run(["baseline", "set", "main", String(run_id)])).code).toBe(0);
  await cli("add", "named", "reverse-text", "--every", "30d", "-m", "scripted", "-b", model.url, "-n", "20", "-r", "1", "--drift-baseline", "main");
  await served.ask("/schedules/named/run", {});
  await until(
    async () => (await shown("named")).series[0]?.drift?.verdict === "steady",
    60_000,
    () => "a run that is compared with a named baseline",
  );
  expect((await shown("named")).drift?.baseline_runs).toEqual([run_id]);
  await cli("drift", "reset", "nightly");
  expect((await shown()).drift).toMatchObject({ verdict: "steady", baseline_runs: [] });
});
