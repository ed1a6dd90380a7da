import { describe, expect, it } from "vitest";
import { MAX_GIVEN_PRICES } from "../../../src/limits.ts";
import { NEWEST_TABLE } from "../../../src/prices/tables.ts";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { type Door, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const PRICE = { input_usd_per_mtok: 2, output_usd_per_mtok: 8 };
const URL = "https://judge.example/v1";
const body = (eval_config: JsonObject): JsonObject => ({ environment_ids: ["gsm8k"], inference_model: "m", eval_config });
const create = (door: Door, eval_config: JsonObject) => door.call("POST", "/hosted-evaluations", body(eval_config));
const idOf = async (response: Response): Promise<string> => ((await response.json()) as { evaluation_id: string }).evaluation_id;

describe("prices of a creation", () => {
  it("are kept with the run by the table's date, those of an endpoint of the team at its places; and can be read", async () => {
    const door = openDoor();
    const entry = { model: "m", base_url: "https://models.example/v1", api_key_var: "MODEL_KEY", api_client_type: null, headers: {} };
    door.registry.endpoints.set("fast", { endpoint_id: "fast", entries: [entry], created_at: 0, updated_at: 0, updated_by: "ada" });
    const prices = [
      { endpoint_id: "fast", ...PRICE },
      { model: "judge-*", url: URL, ...PRICE, cached_input_usd_per_mtok: 0 },
    ];
    const id = await idOf(await create(door, { prices }));
    const config = door.run(id).creations[0]?.config;
    expect(config?.prices).toEqual({
      version: 1,
      table: NEWEST_TABLE.date,
      given: [
        { model: "m", url: "https://models.example/v1", ...PRICE },
        { model: "judge-*", url: URL, ...PRICE, cached_input_usd_per_mtok: 0 },
      ],
    });
    if (config === undefined) throw new Error("there is no run");
    door.run(id).state = viewFor(config);
    const shown = (await (await door.call("GET", `/evaluations/${id}`)).json()) as { eval_config: JsonObject; edgewise: JsonObject };
    expect(shown.eval_config.prices).toEqual([
      { model: "m", api_base_url: "https://models.example/v1", ...PRICE },
      { model: "judge-*", api_base_url: URL, ...PRICE, cached_input_usd_per_mtok: 0 },
    ]);
    expect(shown.edgewise.cost).toBeNull();
  });

  it.each<[string, JsonObject, string]>([
    ["a field that there is not", { model: "m", ...PRICE, ouput: 1 }, '"ouput"'],
    ["none of output", { model: "m", input_usd_per_mtok: 1 }, '"output_usd_per_mtok"'],
    ["less than nothing", { model: "m", ...PRICE, input_usd_per_mtok: -1 }, '"input_usd_per_mtok"'],
    ["no model", { url: URL, ...PRICE }, '"model"'],
    ["an endpoint that the team has not", { endpoint_id: "none", ...PRICE }, '"eval_config","prices",0,"endpoint_id"'],
  ])("are refused by the name of the field: %s", async (_, row, field) => {
    const refused = await create(openDoor(), { prices: [row] });
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining(field)]);
  });

  it(`are ${MAX_GIVEN_PRICES} at most, and no part of what a resume brings`, async () => {
    const many = (count: number): JsonObject => ({ prices: Array.from({ length: count }, () => ({ model: "m", ...PRICE })) });
    expect((await create(openDoor(), many(MAX_GIVEN_PRICES))).status).toBe(200);
    expect((await create(openDoor(), many(MAX_GIVEN_PRICES + 1))).status).toBe(422);
    const door = openDoor();
    const id = await idOf(await create(door, {}));
    const refused = await door.call("POST", `/evaluations/${id}/resume`, { prices: [{ model: "m", ...PRICE }] });
    expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining('"prices"')]);
  });

  it("may come with a config file, for all evaluations and for one", async () => {
    const door = openDoor();
    const answer = await door.call("POST", "/evaluation-configs", {
      price: [{ model: "a", ...PRICE }],
      eval: [{ env_id: "gsm8k" }, { env_id: "gsm8k", price: [{ model: "b", ...PRICE }] }],
    });
    const { evaluations } = (await answer.json()) as { evaluations: { evaluation_id: string }[] };
    const given = evaluations.map(({ evaluation_id }) => door.run(evaluation_id).creations[0]?.config.prices?.given);
    expect(given).toEqual([
      [{ model: "a", ...PRICE }],
      [
        { model: "a", ...PRICE },
        { model: "b", ...PRICE },
      ],
    ]);
    const wrong = await door.call("POST", "/evaluation-configs", { price: [{ model: "a" }], eval: [{ env_id: "gsm8k" }] });
    expect(await wrong.json()).toMatchObject({ detail: expect.stringContaining(`body: [[price]] #1 (model "a"): input_usd_per_mtok is missing`) });
  });
});
