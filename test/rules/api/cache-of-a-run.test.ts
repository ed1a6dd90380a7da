import { describe, expect, it } from "vitest";
import type { JsonObject, RunConfig } from "../../../src/config/plan/run-config.ts";
import { CONFIG, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const create = (eval_config: JsonObject) => {
  const door = openDoor();
  const body = { environment_ids: ["gsm8k"], inference_model: "m", eval_config };
  return { door, answer: door.call("POST", "/hosted-evaluations", body) };
};

async function configOf(eval_config: JsonObject): Promise<RunConfig | undefined> {
  const { door, answer } = create(eval_config);
  const { evaluation_id } = (await (await answer).json()) as { evaluation_id: string };
  return door.run(evaluation_id).creations[0]?.config;
}

describe("the cache of a run", () => {
  it("is what its creation says, and is not named where it says nothing or off", async () => {
    expect(await configOf({ cache: "read-write" })).toMatchObject({ cache: { mode: "read-write", days: 30 } });
    expect(await configOf({ cache: "read-write", cache_days: 3 })).toMatchObject({ cache: { mode: "read-write", days: 3 } });
    expect(await configOf({ cache: "read" })).toMatchObject({ cache: { mode: "read" } });
    for (const given of [{}, { cache: "off" }] as JsonObject[]) expect(await configOf(given)).not.toHaveProperty("cache");
  });

  it.each([{ cache_days: 3 }, { cache: "off", cache_days: 3 }, { cache: "read", cache_days: 3 }])(
    "keeps nothing, so that days are refused by name: %j",
    async (given) => {
      const answer = await create(given as JsonObject).answer;
      expect([answer.status, await answer.text()]).toEqual([422, expect.stringContaining('"body","eval_config","cache_days"')]);
    },
  );

  it("is shown as it was asked for, with how calls were answered so far", async () => {
    const door = openDoor();
    const cache = { calls: 4, cached: 3, input_tokens: 30, output_tokens: 6 };
    const view = viewFor({ ...CONFIG, cache: { mode: "read-write", days: 7 } });
    door.run("0000abcd").state = { ...view, totals: { ...view.totals, cache } };
    const shown = await (await door.call("GET", "/evaluations/0000abcd")).json();
    expect(shown).toMatchObject({ eval_config: { cache: "read-write", cache_days: 7 }, edgewise: { cache } });
    door.run("0000abcd").state = viewFor(CONFIG);
    expect(JSON.stringify(await (await door.call("GET", "/evaluations/0000abcd")).json())).not.toContain("cache");
  });
});
