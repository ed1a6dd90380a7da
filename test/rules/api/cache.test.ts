import { describe, expect, it } from "vitest";
import * as schemas from "../../../src/api/cache/cache-schemas.ts";
import { openDoor } from "../../support/door/fake-ports.ts";

const kept = (answers: number, at: number) => ({ answers, bytes: 100 * answers, oldest_at: at, newest_at: at + 1, expires_at: at + 2, claims: 1 });
const shown = async (response: Response) => schemas.cacheAnswer.parse(await response.json()).data;

describe("what a team keeps of its models' answers", () => {
  it("is shown as one number of all its desks, and of nobody else's", async () => {
    const door = openDoor();
    expect(await shown(await door.call("GET", "/cache"))).toEqual({ answers: 0, bytes: 0, oldest_at: null, newest_at: null, expires_at: null, asking: 0 });
    expect(door.desks.size).toBe(16);
    for (const [name, answers] of [
      ["default/0", 3],
      ["default/f", 4],
    ] as const) {
      const desk = door.desks.get(name);
      if (desk !== undefined) desk.known = kept(answers, answers * 1_000);
    }
    expect(await shown(await door.call("GET", "/cache"))).toEqual({
      ...{ answers: 7, bytes: 700, asking: 2 },
      ...{ oldest_at: "1970-01-01T00:00:03.000Z", newest_at: "1970-01-01T00:00:04.001Z", expires_at: "1970-01-01T00:00:03.002Z" },
    });
  });

  it("is cleared at every desk, all of it or that of a model or an age, and stands in the audit", async () => {
    const door = openDoor();
    await door.call("GET", "/cache");
    for (const desk of door.desks.values()) desk.known = kept(1, 1);
    const cleared = await door.call("DELETE", "/cache");
    expect(schemas.clearAnswer.parse(await cleared.json()).data).toEqual({ answers: 16, bytes: 1600 });
    await door.call("DELETE", "/cache?model=gpt-4.1-mini&older_than_days=2");
    for (const desk of door.desks.values())
      expect(desk.cleared).toEqual([
        [null, null],
        [expect.any(Number), "gpt-4.1-mini"],
      ]);
    expect(door.registry.audited).toMatchObject([{ action: "cache.clear" }, { action: "cache.clear" }]);
  });

  it.each(["older_than_days=-1", "older_than_days=366", "older_than_days=x", "model=", "all=1"])(
    "is not cleared by what is not understood: %s",
    async (query) => {
      const refused = await openDoor().call("DELETE", `/cache?${query}`);
      expect([refused.status, await refused.text()]).toEqual([422, expect.stringContaining(query.split("=")[0] ?? "")]);
    },
  );
});
