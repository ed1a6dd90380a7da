import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Webhook } from "standardwebhooks";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { startWebhookReceiver, type WebhookReceiver } from "../../support/alerts/webhook-receiver.ts";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

interface Shown {
  readonly state: string;
  readonly last_beat_at: string | null;
  readonly history: readonly { readonly type: string }[];
}

/** A Python beside whose programs there is the `vf-eval` of verifiers 0.1. */
const PYTHON = process.env.EDGEWISE_TEST_PYTHON ?? "";
const isThere = PYTHON !== "" && spawnSync(PYTHON, ["-c", "import verifiers.utils.heartbeat"]).status === 0;
if (!isThere) console.log("skipped: EDGEWISE_TEST_PYTHON names no Python with verifiers 0.1 (vf-eval beating at a monitor)");

let place: Workplace;
let model: ModelServer;
let served: Served;
let receiver: WebhookReceiver;
beforeAll(async () => {
  place = new Workplace();
  receiver = await startWebhookReceiver();
  model = await startModelServer({ latency_ms: [100, 100] });
  served = new Served(place);
});
afterAll(async () => {
  await served.end("SIGKILL");
  place.remove();
  await model.close();
  await receiver.close();
});

const monitor = async (name: string): Promise<Shown> => ((await (await served.ask(`/monitors/${name}`)).json()) as { data: Shown }).data;
const becomes = (name: string, state: string): Promise<void> =>
  until(
    async () => (await monitor(name)).state === state,
    60_000,
    () => `monitor ${name} to be ${state}`,
  );
const cli = async (...args: string[]): Promise<string> => {
  const { code, stdout, stderr } = await place.run(["monitor", ...args]);
  expect(code, stderr).toBe(0);
  return stdout;
};
/** The address that a command showed, at the port of the service. */
const beatUrl = (text: string): string => `${served.url}${new URL(/http:\S+\/beat\/\S+/.exec(text)?.[0] ?? "").pathname}`;
const types = ({ history }: Shown): readonly string[] => history.map(({ type }) => type).reverse();

/** What the pager is told of a monitor, the oldest first; each of it is as its secret says. */
let secret = "";
const paged = (name: string): readonly string[] =>
  receiver.received
    .filter(({ to }) => to === "pager")
    .map(({ body, headers }) => new Webhook(secret).verify(body, headers) as { readonly type: string; readonly data: { readonly monitor: string } })
    .filter(({ data }) => data.monitor === name)
    .map(({ type }) => type);
const isPaged = (name: string, ...all: readonly string[]): Promise<void> =>
  until(
    async () => paged(name).join() === all.join(),
    60_000,
    () => `the pager to be told ${all.join()} of ${name}; it was told ${paged(name).join()}`,
  );
const alert = async (name: string): Promise<string> => {
  const body = JSON.stringify({ to: "webhook", url: `${receiver.url}/${name}`, on: ["heartbeat.lost", "heartbeat.back"] });
  const answer = await fetch(`${served.url}/api/v1/alerts/${name}`, { method: "PUT", headers: { "content-type": "application/json" }, body });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as { secret: string }).secret;
};

it("serve watches: a job that fell silent while it was not there has its whole time again, and is lost after it", { timeout: 120_000 }, async () => {
  const { code, stdout, stderr } = await place.run(["monitor", "add", "trainer", "--every", "2s", "--grace", "1s"]);
  expect(code, stderr).toBe(0);
  expect(stdout).toMatch(/^Monitor trainer is kept: every 2s, grace 1s\.\nThe job calls this address.*\n {2}http:\/\/127\.0\.0\.1:8787\/beat\//);
  expect(stderr).toContain("monitors are watched while `npx edgewise serve` runs");
  await served.start();
  // Whoever hangs is asked first, and holds nothing up.
  receiver.hangAt("hangs");
  await alert("hangs");
  secret = await alert("pager");
  const url = beatUrl(stdout);
  expect([(await fetch(url)).status, (await fetch(`${url}x`)).status, (await fetch(url.replace("/beat", "/api/v1/beat"))).status]).toEqual([200, 404, 404]);
  await served.end("SIGKILL");
  // Longer than it may be silent.
  await sleep(3_500);
  served = new Served(place);
  await served.start();
  await becomes("trainer", "lost");
  expect(types(await monitor("trainer")).filter((type) => type !== "heartbeat.late")).toEqual(["heartbeat.alive", "watch.interrupted", "heartbeat.lost"]);
  await isPaged("trainer", "heartbeat.lost");
  const { data } = (await (await served.ask("/alerts/hangs/messages")).json()) as { data: readonly { readonly state: string; readonly attempts: object[] }[] };
  expect(data.map(({ state, attempts }) => [state, attempts])).toEqual([["waiting", []]]);
  await fetch(`${beatUrl(stdout)}?done=1`, { method: "POST" });
  expect(await cli("get", "trainer")).toMatch(/State +done since .*heartbeat\.done.*heartbeat\.back.*heartbeat\.lost/s);
  await isPaged("trainer", "heartbeat.lost", "heartbeat.back");

  const run = await place.run(["eval", "run", "reverse-text", "-m", "scripted", "-b", model.url, "-n", "2", "-r", "1", "--monitor", "trainer"]);
  expect(run.code, run.stderr).toBe(0);
  await until(
    async () =>
      types(await monitor("trainer"))
        .slice(-2)
        .join() === "heartbeat.alive,heartbeat.done",
    60_000,
    () => "the run to be heard of, from its beginning to its end",
  );
  expect(await cli("delete", "trainer")).toContain("leads nowhere now");
  expect((await fetch(beatUrl(stdout))).status).toBe(404);
});

const ENVIRONMENT = `
import verifiers as vf
from datasets import Dataset

def load_environment():
    rows = [{"question": str(n), "answer": "x", "task": "t"} for n in range(400)]
    return vf.SingleTurnEnv(dataset=Dataset.from_list(rows), rubric=vf.Rubric(funcs=[lambda completion, **_: 1.0]))
`;

describe.skipIf(!isThere)("vf-eval of verifiers 0.1", () => {
  it("beats at a monitor; killed it is lost, and `monitor done` closes that", { timeout: 180_000 }, async () => {
    const url = beatUrl(await cli("add", "evaluation", "--every", "4s", "--grace", "1s"));
    writeFileSync(join(place.folder, "beating_env.py"), ENVIRONMENT);
    const args = ["beating-env", "-m", "scripted", "-b", model.url, "-k", "MODEL_KEY", "-n", "400", "-r", "1", "-c", "2", "--heartbeat-url", url];
    const job = spawn(join(dirname(PYTHON), "vf-eval"), args, {
      cwd: place.folder,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...process.env, PYTHONPATH: place.folder, MODEL_KEY: "none", HF_HUB_OFFLINE: "1" },
    });
    const said: string[] = [];
    for (const stream of [job.stdout, job.stderr]) stream.on("data", (text: Buffer) => void said.push(String(text)));
    const ended = once(job, "exit");
    try {
      await until(
        async () => (await monitor("evaluation")).state === "alive",
        90_000,
        () => `a beat of vf-eval: ${said.join("").slice(-2_000)}`,
      );
    } finally {
      process.kill(-(job.pid ?? 0), "SIGKILL");
      await ended;
    }
    await becomes("evaluation", "lost");
    await isPaged("evaluation", "heartbeat.lost");
    expect(await cli("done", "evaluation")).toContain("nothing is expected until the next beat");
    expect(types(await monitor("evaluation")).slice(-3)).toEqual(["heartbeat.lost", "heartbeat.back", "heartbeat.done"]);
    await isPaged("evaluation", "heartbeat.lost", "heartbeat.back");
  });
});
