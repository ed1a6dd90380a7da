/**
 * Alerts, monitors and evaluators as this build stores them, for the test that opens them with every later one (test/e2e/faults/stored-serving.test.ts): what
 * may stay as it is however long it lies. Part of `npm run keep:state`.
 */
import { startWebhookReceiver } from "../test/support/alerts/webhook-receiver.ts";
import { until, Workplace } from "../test/support/cli/cli-process.ts";
import { Served } from "../test/support/cli/served.ts";
import { startModelServer } from "../test/support/model-server/model-server.ts";
import { packServing, type StoredServing } from "../test/support/results/stored-serving.ts";

type Data<Of> = { readonly data: Of };

/** Bytes of the file. */
export async function keepServing(): Promise<number> {
  const place = new Workplace();
  const [model, receiver] = [await startModelServer({ accuracy: 1 }), await startWebhookReceiver()];
  try {
    const service = new Served(place);
    await service.start();
    const put = async <Answer>(path: string, definition: object): Promise<Answer> => {
      const headers = { "content-type": "application/json" };
      const response = await fetch(`${service.url}/api/v1${path}`, { method: "PUT", headers, body: JSON.stringify(definition) });
      if (!response.ok) throw new Error(`${response.status} ${await response.text()}`);
      return (await response.json()) as Answer;
    };
    const shown = async <Of>(path: string): Promise<Of> => ((await (await service.ask(path)).json()) as Data<Of>).data;

    const { secret } = await put<{ secret: string }>("/alerts/oncall", { to: "webhook", url: `${receiver.url}/oncall`, on: ["run.failed"], for: ["night*"] });
    await service.ask("/alerts/oncall/test", {});
    await until(
      async () => (await shown<{ state: string }[]>("/alerts/oncall/messages")).some(({ state }) => state === "delivered"),
      60_000,
      () => "the message to be taken",
    );
    const alert = {
      ...(await shown<StoredServing["alert"]>("/alerts/oncall")),
      secret,
      messages: await shown<StoredServing["alert"]["messages"]>("/alerts/oncall/messages"),
    };

    // One that beat and is done, one that is paused: nothing is expected of either while this lies.
    const monitors: StoredServing["monitors"][number][] = [];
    for (const [name, end] of [
      ["nightly", "done"],
      ["trainer", "pause"],
    ]) {
      const { beat_url } = await put<{ beat_url: string }>(`/monitors/${name}`, { every: "1h", grace: "5m" });
      const { pathname } = new URL(beat_url);
      await fetch(`${service.url}${pathname}`, { method: "POST" });
      await service.ask(`/monitors/${name}/${end}`, {});
      monitors.push({ ...(await shown<StoredServing["monitors"][number]>(`/monitors/${name}`)), beat_path: pathname });
    }

    await put("/evaluators/loop", {
      run_every: 5,
      on_older: "queue",
      early_stopping: { patience: 1 },
      eval: { api_base_url: model.url, num_examples: 2, rollouts_per_example: 1 },
      evaluations: [{ name: "words", metrics: ["mean_reward", "nowhere"], eval: { env_id: "reverse-text" } }],
    });
    const loop = (): Promise<StoredServing["evaluator"] & { readonly open: number }> => shown("/evaluators/loop");
    for (const step of [4, 9]) await service.ask("/evaluators/loop/steps", { step, model: `ckpt-${step}` });
    await until(
      async () => (await loop()).open === 0,
      60_000,
      () => "the steps to be evaluated",
    );
    const evaluator = await loop();
    await service.end("SIGKILL");
    return packServing(place.state, { alert, monitors, evaluator });
  } finally {
    place.remove();
    await Promise.all([model.close(), receiver.close()]);
  }
}
