import { describe, expect, it } from "vitest";
import { inPlace } from "../../support/cli/in-place.ts";
import { Served } from "../../support/cli/served.ts";
import { CURRENT_LIMITS, type StoredLimits, storedLimits, unpackLimits } from "../../support/results/stored-limits.ts";

describe("limits that a version has stored", () => {
  it("are there for what this one stores", () => expect(storedLimits(), "made by: npm run keep:state").toContain(CURRENT_LIMITS));

  it.each(storedLimits())("are known as they were, and forgotten as any: %s", { timeout: 120_000 }, async (name) => {
    await inPlace({}, async ({ place }) => {
      const { limiter, given } = unpackLimits(name, place.state);
      const service = new Served(place);
      await service.start();
      const shown = async <Of>(path: string): Promise<Of> => ((await (await service.ask(path)).json()) as { data: Of }).data;
      const { limiter_id, api_base_url, model_class, state } = limiter;
      expect(state.limits.map(({ source }) => source).sort()).toEqual(["given", "told"]);
      const opened = await shown<StoredLimits["limiter"]>(`/limits/${limiter_id}`);
      expect(opened).toMatchObject({ api_base_url, model_class, given: [given.name], state: { limits: state.limits } });
      expect(await shown("/limits/given")).toMatchObject([given]);
      await service.ask(`/limits/${limiter_id}/forget`, {});
      expect((await shown<StoredLimits["limiter"]>(`/limits/${limiter_id}`)).state.limits).toEqual(state.limits.filter(({ source }) => source === "given"));
      await service.end("SIGTERM");
    })();
  });
});
