import { describe, expect, it, vi } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";
import { MemoryStore } from "../../support/run/memory-store.ts";

/** The least a creation says. */
const PRIME: JsonObject = { environment_ids: ["gsm8k"], inference_model: "openai/gpt-4.1-mini", eval_config: {} };
const create = (door: Door, body: JsonObject, headers?: Record<string, string>) => door.call("POST", "/hosted-evaluations", body, headers);

describe("a creation of several environments", () => {
  const several = { ...PRIME, environment_ids: ["gsm8k", "edgewise/reverse-text", "gsm8k", "reverse-text@0.2.0"] };
  const key = { "idempotency-key": "k1" };
  const idsOf = async (response: Promise<Response>): Promise<string[]> => ((await (await response).json()) as { evaluation_ids: string[] }).evaluation_ids;
  const environmentsOf = (door: Door, ids: readonly string[]) =>
    ids.map((id) => door.run(id).creations.map(({ config }) => `${config.run_id} ${config.env_id}`));

  it("makes one run for each, in their order, doubles too", async () => {
    const door = openDoor();
    const response = await create(door, several);
    const { evaluation_id, evaluation_ids: ids } = (await response.json()) as { evaluation_id: string; evaluation_ids: string[] };
    expect(evaluation_id).toBe(ids[0]);
    expect(new Set(ids).size).toBe(4);
    expect(environmentsOf(door, ids)).toEqual([[`${ids[0]} gsm8k`], [`${ids[1]} reverse-text`], [`${ids[2]} gsm8k`], [`${ids[3]} reverse-text`]]);
  });

  it("may keep all of them within one limit", async () => {
    const door = openDoor();
    const ids = await idsOf(create(door, { ...several, max_concurrent_total: 5 }));
    for (const id of ids) expect(door.run(id).creations[0]?.config).toMatchObject({ max_concurrent: 5, common_limit: { id: `${ids[0]}-1`, concurrent: 5 } });
    const [alone] = await idsOf(create(door, { ...PRIME, max_concurrent_total: 5 }));
    const config = door.run(alone ?? "").creations[0]?.config;
    expect([config?.max_concurrent, config?.common_limit]).toEqual([5, undefined]);
  });

  it.each([
    ["unknown", "gsm9k", "environment_ids.1: There is no environment"],
    ["of another owner", "other/gsm8k", "environment_ids.1"],
    ["of another version", "edgewise/gsm8k@9.9.9", "gsm8k@0.1.0"],
  ])("starts none when one is %s", async (_, id, said) => {
    const door = openDoor();
    const response = await create(door, { ...PRIME, environment_ids: ["gsm8k", id] });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ code: "environment_not_found", detail: expect.stringContaining(said) });
    expect(door.registry.reserved).toEqual([]);
  });

  it("that broke off in the middle is finished by the same request, without doubles", async () => {
    const door = openDoor();
    const put = door.store.putText.bind(door.store);
    let puts = 0;
    door.store.putText = async (name, text) => {
      if (++puts === 3) throw new Error("R2 is away");
      return put(name, text);
    };
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const broken = await create(door, several, key);
    expect(await broken.json()).toMatchObject({
      code: "storage_unavailable",
      detail: expect.stringContaining("2 of 4"),
      hint: expect.stringContaining("Idempotency-Key"),
    });
    const ids = await idsOf(create(door, several, key));
    expect(environmentsOf(door, ids).map((runs) => runs.length)).toEqual([1, 1, 1, 1]);
    expect(await idsOf(create(door, several, key))).toEqual(ids);
    expect(door.registry.taken.size).toBe(4);
    vi.restoreAllMocks();
  });

  it("that broke off and cannot be repeated is taken back", async () => {
    const door = openDoor();
    door.store.failPuts = true;
    const put = MemoryStore.prototype.putText.bind(door.store);
    let puts = 0;
    door.store.putText = async (name, text) => {
      door.store.failPuts = ++puts === 2;
      return put(name, text);
    };
    vi.spyOn(console, "error").mockImplementation(() => undefined);
    const response = await create(door, several);
    expect(await response.json()).toMatchObject({ code: "storage_unavailable", detail: expect.stringContaining("cancelled") });
    const [first = ""] = door.registry.reserved[0]?.candidates ?? [];
    expect(door.run(first).cancels).toBe(1);
    expect([...door.registry.taken]).toEqual([first]);
    vi.restoreAllMocks();
  });

  it("does not bring back a run that was deleted since", async () => {
    const door = openDoor();
    const ids = await idsOf(create(door, several, key));
    door.registry.taken.delete(ids[1] ?? "");
    door.run(ids[1] ?? "").state = null;
    expect(await idsOf(create(door, several, key))).toEqual(ids);
    expect(door.run(ids[1] ?? "").creations).toHaveLength(1);
  });
});
