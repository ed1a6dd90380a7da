import { Webhook } from "standardwebhooks";
import { describe, expect, it } from "vitest";
import { startWebhookReceiver } from "../../support/alerts/webhook-receiver.ts";
import { until } from "../../support/cli/cli-process.ts";
import { inPlace } from "../../support/cli/in-place.ts";
import { Served } from "../../support/cli/served.ts";
import { CURRENT_SERVING, type StoredServing, storedServing, unpackServing } from "../../support/results/stored-serving.ts";

describe("alerts, monitors and evaluators that a version has stored", () => {
  it("are there for what this one stores", () => expect(storedServing(), "made by: npm run keep:state").toContain(CURRENT_SERVING));

  it.each(storedServing())("are opened with what they knew, and go on: %s", { timeout: 120_000 }, async (name) => {
    await inPlace({ accuracy: 1 }, async ({ place, model }) => {
      const receiver = await startWebhookReceiver();
      try {
        const stored = unpackServing(name, place.state);
        const service = new Served(place);
        await service.start();
        const put = async (path: string, body: object): Promise<void> => {
          const response = await fetch(`${service.url}/api/v1${path}`, {
            method: "PUT",
            headers: { "content-type": "application/json" },
            body: JSON.stringify(body),
          });
          expect(response.status, path).toBe(200);
        };
        const shown = async <Of>(path: string): Promise<Of> => ((await (await service.ask(path)).json()) as { data: Of }).data;

        const { alert, monitors, evaluator } = stored;
        const alertPath = `/alerts/${alert.name}`;
        expect(await shown(alertPath)).toMatchObject({ definition: alert.definition, disabled: null });
        // Messages that have lain too long are gone.
        for (const message of await shown<StoredServing["alert"]["messages"]>(`${alertPath}/messages`))
          expect(message).toMatchObject(alert.messages.find(({ id }) => id === message.id) ?? { id: "that of a message that was sent" });
        // Elsewhere now; what signs its messages is that of then.
        await put(alertPath, { ...alert.definition, url: `${receiver.url}/oncall` });
        await service.ask(`${alertPath}/test`, {});
        await until(
          () => receiver.received.length > 0,
          20_000,
          () => "the message of the stored alert",
        );
        const [message] = receiver.received;
        expect(new Webhook(alert.secret).verify(message?.body ?? "", message?.headers ?? {})).toMatchObject({ type: "test" });

        for (const before of monitors) {
          const path = `/monitors/${before.name}`;
          const opened = await shown<StoredServing["monitors"][number]>(path);
          expect(opened.state).toBe(before.state);
          expect(opened.history).toMatchObject(before.history);
          if (before.state === "paused") await service.ask(`${path}/resume`, {});
          expect((await fetch(`${service.url}${before.beat_path}`, { method: "POST" })).status).toBe(200);
          expect(await shown(path)).toMatchObject({ state: "alive" });
        }

        const loop = `/evaluators/${evaluator.name}`;
        const { records, series, advice, definition } = evaluator;
        expect(await shown(loop)).toMatchObject({ definition, records, series, advice, open: 0 });
        await service.ask(`${loop}/steps`, { step: 14, model: "ckpt-14", api_base_url: model.url });
        let after = evaluator;
        await until(
          async () => {
            const now = await shown<StoredServing["evaluator"] & { readonly open: number }>(loop);
            after = now;
            return now.open === 0;
          },
          60_000,
          () => `a step of the stored evaluator: ${JSON.stringify(after)}`,
        );
        expect(after.records).toMatchObject([...records, { step: 15, outcome: "evaluated", values: { mean_reward: { value: 1 } }, missing: ["nowhere"] }]);
        await service.end("SIGTERM");
      } finally {
        await receiver.close();
      }
    })();
  });
});
