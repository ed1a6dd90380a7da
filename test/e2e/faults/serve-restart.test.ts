import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { type CliProcess, until, type Workplace } from "../../support/cli/cli-process.ts";
import { freshPlaces } from "../../support/cli/fresh-place.ts";
import { killPlan, seedOf } from "../../support/cli/kill-plan.ts";
import { isAllAnswered, kill, Losses } from "../../support/cli/local-stack.ts";
import type { ModelServer } from "../../support/model-server/model-server.ts";
import { aggregatesOf, jsonRows, meanReward } from "../../support/results/results-check.ts";

const EXAMPLES = 1000;
const ROLLOUTS = 2;
const CONCURRENT = 16;
const LANES = CONCURRENT / ROLLOUTS + 1;
/** As in kill-anywhere.test.ts. */
const FLUSH_WINDOW_MS = 400;
const COMMITTED_MS = 5000;
/** "Within seconds", on a busy machine. */
const AGAIN_MS = 20_000;

let place: Workplace;
let model: ModelServer;
freshPlaces(
  (fresh) => {
    ({ place, model } = fresh);
  },
  { latency_ms: [60, 140], accuracy: 0.7 },
);

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as AddressInfo;
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

interface Evaluation {
  readonly status: string;
  readonly edgewise: { readonly settled: boolean; readonly errors: Readonly<Record<string, number>> };
}

it("a run created over HTTP survives 25 kills of its service, and goes on after each with nobody asking", { timeout: 400_000 }, async () => {
  const plan = killPlan(seedOf("serve-restart"), { stack: 20, command: 5, requests: 100, manyRequests: 200 });
  const { ledger } = model;
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/api/v1`;
  const serve = (): CliProcess => place.start(["serve", "--port", String(port)]);
  const losses = new Losses(ledger, { lanes: LANES, flushMs: FLUSH_WINDOW_MS, committedMs: COMMITTED_MS });

  let server = serve();
  await server.says("Edgewise listens on");
  const created = await fetch(`${url}/hosted-evaluations`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({
      environment_ids: ["reverse-text"],
      inference_model: "scripted",
      eval_config: { num_examples: EXAMPLES, rollouts_per_example: ROLLOUTS, max_concurrent: CONCURRENT, api_base_url: model.url },
    }),
  });
  expect(created.status).toBe(200);
  const { evaluation_id: id } = (await created.json()) as { evaluation_id: string };

  // From here on nobody speaks to the service until the run has ended.
  for (const { what, when } of plan) {
    const before = ledger.stats().total;
    const reached = (): boolean =>
      "msAfterLast" in when ? isAllAnswered(ledger.entries(), EXAMPLES, ROLLOUTS) : "requests" in when && ledger.stats().total >= before + when.requests;
    if ("requests" in when)
      await until(
        () => ledger.stats().total > before,
        AGAIN_MS,
        () => `a request after a restart:\n${server.stdout()}${server.stderr()}`,
      );
    if (!("ms" in when)) await until(reached, 60_000, () => `${JSON.stringify(when)} in:\n${server.stdout()}${server.stderr()}`);
    await sleep("ms" in when ? when.ms : "msAfterLast" in when ? when.msAfterLast : 0);
    expect(server.child.exitCode, server.stderr()).toBe(null);
    losses.add(await kill(place, server, what));
    server = serve();
  }

  await server.says("Edgewise listens on");
  const evaluation = async (): Promise<Evaluation> => (await (await fetch(`${url}/evaluations/${id}`)).json()) as Evaluation;
  await until(
    async () => (await evaluation()).edgewise.settled,
    30_000,
    () => "the end of the run",
  );
  await losses.counted();
  expect(await evaluation()).toMatchObject({ status: "COMPLETED", edgewise: { errors: {} } });
  const file = async (name: string): Promise<string> => (await fetch(`${url}/evaluations/${id}/files/${name}`)).text();
  const rows = jsonRows(await file("results.jsonl"));
  expect(rows.map(({ example_id, rollout_index }) => `${example_id}/${rollout_index}`)).toEqual(
    Array.from({ length: EXAMPLES * ROLLOUTS }, (_, at) => `${Math.floor(at / ROLLOUTS)}/${at % ROLLOUTS}`),
  );
  expect(rows.filter(({ error }) => error !== null)).toEqual([]);
  const metadata = JSON.parse(await file("metadata.json")) as Record<string, unknown>;
  expect(metadata).toMatchObject({ num_examples: EXAMPLES, ...aggregatesOf(rows, ROLLOUTS, 0.5), edgewise: { run_id: id, status: "COMPLETED" } });
  expect(metadata.avg_reward).toBe(meanReward(rows));

  const repeated = ledger.stats().total - EXAMPLES * ROLLOUTS;
  console.log(`serve-restart: ${repeated} repeated calls in ${plan.length} kills, at most ${losses.allowed} allowed`);
  expect(repeated).toBeLessThanOrEqual(losses.allowed);
  expect(losses.unexplained(ROLLOUTS)).toEqual([]);
  expect(ledger.stats().peak_in_flight).toBe(CONCURRENT);

  server.interrupt();
  expect(await server.ended).toBe(0);
});
