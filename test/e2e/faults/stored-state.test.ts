import { describe, expect, it } from "vitest";
import { grid, inPlace, keysOfRows } from "../../support/cli/in-place.ts";
import { jsonRows } from "../../support/results/results-check.ts";
import { Served } from "../../support/cli/served.ts";
import { CURRENT_STATE, storedStates, unpackState } from "../../support/results/stored-state.ts";

describe("state that a version has stored", () => {
  it("is there for what this one stores", () => expect(storedStates(), "made by: npm run keep:state").toContain(CURRENT_STATE));

  it.each(storedStates())("is opened and gone on with: %s", { timeout: 120_000 }, async (name) => {
    await inPlace({ latency_ms: 5 }, async ({ place, model }) => {
      const runs = unpackState(name, place.state);
      const service = new Served(place);
      await service.start();
      const listed = (await (await service.ask("/evaluations")).json()) as { evaluations: { evaluation_id: string }[] };
      expect(listed.evaluations.map(({ evaluation_id }) => evaluation_id).toSorted()).toEqual(runs.map(({ id }) => id).toSorted());

      for (const { id, examples, rollouts, stood, done_rollouts, results } of runs) {
        const { edgewise } = await service.run(id);
        if (stood === "settled") expect(edgewise).toMatchObject({ settled: true });
        expect(edgewise.done_rollouts).toBeGreaterThanOrEqual(done_rollouts);
        // Nobody gave it prices.
        expect(edgewise).toMatchObject({ cost: null });
        const before = jsonRows(await (await service.ask(`/evaluations/${id}/rows?after=0&limit_bytes=1000000`)).text());
        expect(before.length).toBeGreaterThanOrEqual(done_rollouts);
        if (results !== null) {
          expect(await service.file(id, "results.jsonl")).toBe(results);
          expect(JSON.parse(await service.file(id, "metadata.json"))).toMatchObject({ num_examples: examples });
          continue;
        }
        // Its environment's code is of then: nobody works on it unasked, unless it is still the same. And its time limit counts from then: a
        // file older than that (two hours over HTTP) has runs that end as they are opened.
        await service.ask(`/evaluations/${id}/interrupt`, {}).catch((refused: Error) => expect(refused.message).toContain("TIMEOUT"));
        const rested = await service.when(
          id,
          ({ status, edgewise: { settled, suspended, executors } }) => (settled ? status === "TIMEOUT" : suspended && executors === 0),
          "the run to rest",
        );
        expect(rested.edgewise.done_rollouts).toBeLessThan(examples * rollouts);
        await service.ask(`/evaluations/${id}/resume`, { api_base_url: model.url, accept_code_change: true });
        const ended = await service.when(id, (run) => run.edgewise.settled, "the end of the run");
        expect(ended).toMatchObject({ status: "COMPLETED" });
        const rows = jsonRows(await service.file(id, "results.jsonl"));
        expect(keysOfRows(rows)).toEqual(grid(examples, rollouts));
        expect(rows.filter((row) => "usage_cost" in row)).toEqual([]);
        expect(JSON.parse(await service.file(id, "metadata.json"))).not.toHaveProperty("cost");
        // What was paid for then is kept to the letter.
        const texts = new Set(rows.map((row) => JSON.stringify(row)));
        expect(before.slice(0, done_rollouts).filter((row) => !texts.has(JSON.stringify(row)))).toEqual([]);
      }
      await service.end("SIGTERM");
    })();
  });
});
