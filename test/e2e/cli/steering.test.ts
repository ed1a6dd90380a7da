import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { until, Workplace } from "../../support/cli/cli-process.ts";
import { type Bench, grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { Served } from "../../support/cli/served.ts";
import { type ModelServer, startModelServer } from "../../support/model-server/model-server.ts";

const LONG = { timeout: 90_000 };

const inFlight = (model: ModelServer): number => model.ledger.stats().in_flight;
const asked = (model: ModelServer): number => model.ledger.stats().total;

/** The id of the one run of a place, as soon as there is one. */
async function idOf({ place }: Bench): Promise<string> {
  let id = "";
  await until(async () => {
    const { code, stdout } = await place.run(["eval", "list", "-o", "json"]);
    id = code === 0 ? ((JSON.parse(stdout) as { evaluations: { evaluation_id: string }[] }).evaluations[0]?.evaluation_id ?? "") : "";
    return id !== "";
  }, 20_000);
  return id;
}

interface Shown {
  readonly status: string;
  readonly edgewise: { readonly executors: number; readonly paused?: { readonly at: number } };
}
const shownOf = async ({ place }: Bench, id: string): Promise<Shown> => JSON.parse((await place.run(["eval", "get", id, "-o", "json"])).stdout) as Shown;

describe.concurrent("a run of another terminal that is steered", () => {
  it(
    "takes a higher and a lower limit, is paused and continued, and asks for nothing twice",
    LONG,
    inPlace({ latency_ms: 100, accuracy: 0.5 }, async (bench) => {
      const { place, model } = bench;
      const run = place.start(bench.reverse("-n", "150", "-r", "4", "-c", "4"));
      await until(() => asked(model) > 4, 30_000);
      const id = await idOf(bench);

      const release = model.hold();
      const raised = await place.run(["eval", "set", id, "-c", "24"]);
      expect([raised.code, raised.stdout], raised.stderr).toEqual([0, `Run ${id} goes on with max_concurrent 24.\n`]);
      await until(() => inFlight(model) === 24, 30_000);

      expect((await place.run(["eval", "set", id, "-c", "3"])).code).toBe(0);
      release();
      await until(() => inFlight(model) <= 3, 30_000);

      const paused = await place.run(["eval", "pause", id]);
      expect([paused.code, paused.stdout], paused.stderr).toEqual([
        0,
        `Run ${id} is paused: what is in progress is finished first. It goes on with: npx edgewise eval continue ${id}\n`,
      ]);
      // Its executors hear of it within a beat, and end a moment after the last answer.
      await until(async () => (await shownOf(bench, id)).edgewise.executors === 0, 30_000);
      expect(inFlight(model)).toBe(0);
      const before = asked(model);
      // Each of these takes longer than a request.
      const shown = await shownOf(bench, id);
      expect([shown.status, typeof shown.edgewise.paused?.at]).toEqual(["RUNNING", "number"]);
      expect((await place.run(["eval", "list"])).stdout).toContain("PAUSED");
      expect((await place.run(["eval", "get", id])).stdout).toMatch(/Waiting +paused since /);
      expect(asked(model)).toBe(before);
      await run.says("paused since ");

      expect((await place.run(["eval", "set", id, "-c", "16"])).code).toBe(0);
      expect(asked(model)).toBe(before);
      expect((await place.run(["eval", "continue", id])).stdout).toBe(`Run ${id} goes on.\n`);
      expect(await run.ended, run.stderr()).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(150, 4));
      expect(bench.metadata.edgewise).toMatchObject({ status: "COMPLETED", errored_rollouts: 0 });
      const { total, peak_in_flight } = model.ledger.stats();
      expect([total, peak_in_flight]).toEqual([600, 24]);
      const late = await place.run(["eval", "pause", id]);
      expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("The run is not working any more: COMPLETED.")]);
    }),
  );

  it(
    "of several turns stops between two of them, and goes on from there: no turn is asked for twice",
    LONG,
    inPlace({ latency_ms: 150, answer: { text: "<guess>crane</guess>" } }, async (bench) => {
      const { place, model } = bench;
      const run = place.start(["eval", "run", "wordle", "-m", "scripted", "-b", model.url, "-n", "8", "-r", "2", "-c", "4"]);
      await until(() => asked(model) > 10, 30_000);
      const release = model.hold();
      const id = await idOf(bench);
      await place.run(["eval", "pause", id]);
      release();
      await until(async () => (await shownOf(bench, id)).edgewise.executors === 0, 30_000);
      const before = asked(model);
      expect(before).toBeLessThan(8 * 2 * 6);
      expect((await place.run(["eval", "continue", id])).code).toBe(0);
      expect(await run.ended, run.stderr()).toBe(0);
      expect(keysOfRows(bench.rows)).toEqual(grid(8, 2));
      const turns = bench.rows.reduce((sum, { num_turns }) => sum + Number(num_turns), 0);
      expect([turns, asked(model)]).toEqual([8 * 2 * 6, turns]);
    }),
  );

  it(
    "is stopped while it is paused, and what it has stays",
    LONG,
    inPlace({ latency_ms: 100, accuracy: 0.5 }, async (bench) => {
      const { place, model } = bench;
      const run = place.start(bench.reverse("-n", "200", "-r", "1", "-c", "4"));
      await until(() => asked(model) > 8, 30_000);
      const release = model.hold();
      const id = await idOf(bench);
      await place.run(["eval", "pause", id]);
      release();
      await until(async () => (await shownOf(bench, id)).edgewise.executors === 0, 30_000);
      expect((await place.run(["eval", "stop", id])).code).toBe(0);
      expect(await run.ended).toBe(1);
      expect(bench.rows).toHaveLength(asked(model));
    }),
  );
});

describe("a run over HTTP that is paused", () => {
  let place: Workplace;
  let served: Served;
  let model: ModelServer;
  beforeAll(async () => {
    place = new Workplace();
    model = await startModelServer({ latency_ms: 60, accuracy: 0.5 });
    served = new Served(place);
    await served.start();
  }, 60_000);
  afterAll(async () => {
    place.remove();
    await model.close();
  });
  const patch = (id: string, body: object): Promise<Response> =>
    fetch(`${served.url}/api/v1/evaluations/${id}`, { method: "PATCH", headers: { "content-type": "application/json" }, body: JSON.stringify(body) });

  it("stays so through restarts of its service, keeps what was generated of an example, and asks for nothing twice", LONG, async () => {
    // One example has more rollouts than are under way at once.
    const id = await served.create(model.url, { num_examples: 3, rollouts_per_example: 64, max_concurrent: 4 });
    await until(() => asked(model) > 12, 30_000);
    await served.ask(`/evaluations/${id}/pause`, {});
    await served.when(id, ({ edgewise }) => edgewise.executors === 0, "no grant");
    expect(inFlight(model)).toBe(0);
    const before = asked(model);
    for (const how of ["SIGTERM", "SIGKILL"] as const) {
      await served.end(how);
      await served.start();
      expect((await served.run(id)).edgewise).toMatchObject({ paused: { at: expect.any(Number) }, settled: false, suspended: false });
    }
    expect(asked(model)).toBe(before);

    const set = await patch(id, { max_concurrent: 32, priority: 2, timeout_minutes: 60 });
    expect(await set.json()).toEqual({
      evaluation_id: id,
      settings: {
        max_concurrent: 32,
        max_concurrent_generation: null,
        max_concurrent_scoring: null,
        priority: 2,
        timeout_minutes: 60,
        stall_minutes: null,
      },
      warnings: [],
    });
    await served.ask(`/evaluations/${id}/continue`, {});
    const done = await served.when(id, ({ edgewise }) => edgewise.settled, "settled");
    expect([done.status, asked(model)]).toEqual(["COMPLETED", 3 * 64]);
  });

  it("is told what is wrong with what it is to be set to", async () => {
    const id = await served.create(model.url, { num_examples: 1 });
    await served.when(id, ({ edgewise }) => edgewise.settled, "settled");
    const refused = async (body: object): Promise<unknown[]> => {
      const answer = await patch(id, body);
      const { code, detail } = (await answer.json()) as { code: string; detail: unknown };
      return [answer.status, code, typeof detail === "string" ? detail : JSON.stringify(detail)];
    };
    expect(await refused({ max_concurrent: 4 })).toEqual([409, "illegal_transition", "The run is not working any more: COMPLETED."]);
    expect(await refused({ max_concurrent: "many" })).toEqual([422, "invalid_request", expect.stringContaining('"max_concurrent"')]);
    expect(await refused({ model: "another" })).toEqual([422, "invalid_request", expect.stringContaining("model")]);
    expect(await refused({})).toEqual([422, "invalid_request", expect.stringContaining("must set one of max_concurrent")]);
  });
});
