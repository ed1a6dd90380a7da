import { expect, it } from "vitest";
import { until } from "../../support/cli/cli-process.ts";
import { inPlace } from "../../support/cli/in-place.ts";
import { Served } from "../../support/cli/served.ts";

const PRICE = { model: "scripted", input_usd_per_mtok: 1, output_usd_per_mtok: 1_000 };
const ANSWER_USD = 0.01002;
const RUN = { num_examples: 10, rollouts_per_example: 1, max_concurrent: 4, sampling_args: { max_tokens: 10 }, prices: [PRICE] };

interface Nightly {
  readonly paused: object | null;
  readonly active: { readonly failure: object | null } | null;
}

it(
  "a budget of a team's day holds for its runs together: the second ends with what is left of it, a third and a due time are refused, and it goes on once there is more",
  { timeout: 180_000 },
  inPlace({ latency_ms: [20, 40] }, async ({ place, model }) => {
    const service = new Served(place);
    await service.start();
    const set = async (day: number) => {
      const put = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify({ day }) };
      expect((await fetch(`${service.url}/api/v1/budgets/team`, put)).status).toBe(200);
    };
    await set(0.17);
    const first = await service.create(model.url, RUN);
    expect(await service.when(first, ({ edgewise }) => edgewise.settled, "the end of the first run")).toMatchObject({ status: "COMPLETED" });
    const second = await service.create(model.url, RUN);
    const ended = await service.when(second, ({ edgewise }) => edgewise.settled, "the end of the second run");
    expect(ended).toMatchObject({ status: "CANCELLED", edgewise: { ended_by: "budget" } });
    expect(ended.error_message).toContain("over_budget: The budget of the team default, $0.1700 of this day (UTC) is spent");
    expect(ended.error_message).toContain("npx edgewise budget set --day 0.27");
    const billed = () => model.ledger.entries().length * ANSWER_USD;
    expect(billed()).toBeLessThanOrEqual(0.17);
    const { data } = (await (await service.ask("/budgets")).json()) as { data: { spent: { day: { settled_usd: number } } }[] };
    expect(data[0]?.spent.day.settled_usd).toBeCloseTo(billed(), 6);

    // Too little is left for one call: what would end without a row is not begun, by whomever it is asked for.
    const calls = model.ledger.entries().length;
    await expect(service.create(model.url, RUN)).rejects.toThrow(
      /402 .*The budget of the team default, \$0\.1700 of this day .*begins anew at .*npx edgewise budget set --day 0\.27/,
    );
    const nightly = { every: "1d", eval: { env_id: "reverse-text", model: "scripted", api_base_url: model.url, ...RUN } };
    const put = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(nightly) };
    expect((await fetch(`${service.url}/api/v1/schedules/nightly`, put)).status).toBe(200);
    await service.ask("/schedules/nightly/run", {});
    const due = async () => ((await (await service.ask("/schedules/nightly")).json()) as { data: Nightly }).data;
    await until(
      async () => (await due()).active?.failure != null,
      30_000,
      () => "the refusal of the due time",
    );
    expect(await due()).toMatchObject({
      paused: null,
      active: { failure: { code: "over_budget", message: expect.stringContaining("of this day (UTC) is spent") } },
    });
    expect(model.ledger.entries().length).toBe(calls);

    await set(1);
    await service.ask(`/evaluations/${second}/resume`, {});
    expect(await service.when(second, ({ edgewise, status }) => edgewise.settled && status === "COMPLETED", "its end")).toMatchObject({ status: "COMPLETED" });
    expect(billed()).toBeCloseTo(20 * ANSWER_USD, 6);
    await service.end("SIGTERM");
  }),
);
