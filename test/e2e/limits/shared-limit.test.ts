import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { until, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import { Served, type ServedRun } from "../../support/cli/served.ts";
import type { LimitedFigures } from "../../support/model-server/limited/limited-gate.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";

let place: Workplace;
let model: ModelServer;
freshPlaces((fresh) => {
  ({ place, model } = fresh);
});

const RUNS = 4;
const EXAMPLES = 150;
/** Of each of those that find a limit: they last for more than what is looked at. */
const FINDING = 270;
/** Twelve a second, and no more at once than come in one: runs that do not keep to it are refused from the first second on. */
const REQUESTS_A_MINUTE = 720;
/** The first minute is for finding it. */
const FOUND_MS = 60_000;
const LOOKED_AT_MS = 20_000;

const figures = async (from: number, to: number): Promise<LimitedFigures> =>
  (await (await fetch(`${model.controlUrl}/limited?from=${from}&to=${to}`)).json()) as LimitedFigures;

/** At six tenths of the limit, which is as little as the test takes for found, all runs last for 150 s. */
const END_MS = 120_000;
const atEnd = (served: Served, id: string): Promise<ServedRun> => served.when(id, ({ edgewise }) => edgewise.settled, "the end of a run", END_MS);

it("four runs of one key find a limit that nobody tells them, share it, and lose no rollout to it", { timeout: 300_000 }, async () => {
  model.setScript({
    latency_ms: [200, 600],
    limited: { limits: [{ kind: "requests", limit: REQUESTS_A_MINUTE, meter: "token_bucket", burst_s: 1 }] },
  });
  const served = new Served(place);
  await served.start();
  const users = Array.from({ length: RUNS }, (_, at) => `run-${at}`);
  const config = { num_examples: FINDING, rollouts_per_example: 1, max_concurrent: 32 };
  const ids = await Promise.all(users.map((user) => served.create(model.url, { ...config, sampling_args: { extra_body: { user } } })));
  await sleep(FOUND_MS + LOOKED_AT_MS);
  const { taken, refused, by } = await figures(FOUND_MS, FOUND_MS + LOOKED_AT_MS);
  // As bounds that a busy machine keeps to as well; what an idle one shows is measured by `npm run bench -- limits`.
  expect(refused / (taken + refused)).toBeLessThan(0.05);
  expect(taken).toBeGreaterThan(((REQUESTS_A_MINUTE * LOOKED_AT_MS) / 60_000) * 0.6);
  for (const user of users) expect(by[user] ?? 0, JSON.stringify(by)).toBeGreaterThan(taken / RUNS / 2);
  for (const id of ids) expect(await atEnd(served, id)).toMatchObject({ status: "COMPLETED", edgewise: { done_rollouts: FINDING, errors: {} } });
  await served.end("SIGTERM");
});

const GIVEN = 6;
const KILLS = 4;

it("requests in flight never exceed a limit that was given, through kills of the service and with it of the Limiter", { timeout: 300_000 }, async () => {
  model.setScript({ latency_ms: [60, 240] });
  const served = new Served(place);
  await served.start();
  const limits = [{ url: model.url, concurrent: GIVEN }];
  const config = { num_examples: EXAMPLES, rollouts_per_example: 2, max_concurrent: 16, limits };
  const ids = [await served.create(model.url, config), await served.create(model.url, config)];
  const asked = (): number => model.ledger.stats().total;
  for (let kill = 0; kill < KILLS; kill++) {
    const before = asked();
    await until(
      () => asked() > before + 40,
      30_000,
      () => "requests after a restart",
    );
    await served.end("SIGKILL");
    await served.start();
  }
  for (const id of ids) expect(await atEnd(served, id)).toMatchObject({ status: "COMPLETED", edgewise: { done_rollouts: 2 * EXAMPLES, errors: {} } });
  expect(model.ledger.stats().peak_in_flight).toBe(GIVEN);
  await served.end("SIGTERM");
});
