import { describe, expect, it } from "vitest";
import { inPlace } from "../../support/cli/in-place.ts";
import { until } from "../../support/cli/cli-process.ts";
import { Served } from "../../support/cli/served.ts";
import { CURRENT_SCHEDULES, type StoredSchedule, storedSchedules, unpackSchedules } from "../../support/results/stored-schedules.ts";

describe("schedules that a version has stored", () => {
  it("are there for what this one stores", () => expect(storedSchedules(), "made by: npm run keep:state").toContain(CURRENT_SCHEDULES));

  it.each(storedSchedules())("are opened with their series, and go on: %s", { timeout: 120_000 }, async (name) => {
    await inPlace({}, async ({ place, model }) => {
      const stored = unpackSchedules(name, place.state);
      const service = new Served(place);
      await service.start();
      const shown = async (schedule: string): Promise<StoredSchedule> =>
        ((await (await service.ask(`/schedules/${schedule}`)).json()) as { data: StoredSchedule }).data;
      const { data: listed } = (await (await service.ask("/schedules")).json()) as { data: StoredSchedule[] };
      expect(listed.map((schedule) => schedule.name)).toEqual(stored.map((schedule) => schedule.name));
      for (const before of stored) {
        const { definition, paused, pinned_dataset_digest, env_digest, series, events } = before;
        const opened = await shown(before.name);
        expect(opened).toMatchObject({ definition, pinned_dataset_digest, env_digest, series });
        expect(opened.paused?.reason).toBe(paused?.reason);
        expect(opened.events.map(({ seq }) => seq)).toEqual(expect.arrayContaining(events.map(({ seq }) => seq)));
      }

      const [nightly] = stored.filter(({ series }) => series.length > 0);
      if (nightly === undefined) throw new Error("no schedule in it has a run");
      const definition = { ...nightly.definition, eval: { ...nightly.definition.eval, api_base_url: model.url } };
      const put = { method: "PUT", headers: { "content-type": "application/json" }, body: JSON.stringify(definition) };
      expect((await fetch(`${service.url}/api/v1/schedules/${nightly.name}`, put)).status).toBe(200);
      await service.ask(`/schedules/${nightly.name}/run`, {});
      let after = await shown(nightly.name);
      await until(
        async () => {
          after = await shown(nightly.name);
          return after.series.length > nightly.series.length && after.series[0]?.status === "COMPLETED";
        },
        60_000,
        () => `a run of the stored schedule: ${JSON.stringify(after)}`,
      );
      // The same data as then, whatever they are read by now.
      expect(after.pinned_dataset_digest).toBe(nightly.pinned_dataset_digest);
      expect(after.series.slice(1)).toMatchObject(nightly.series);
      await service.end("SIGTERM");
    })();
  });
});
