import { describe, expect, it } from "vitest";
import * as schemas from "../../../src/api/budgets/budget-schemas.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";

const list = async (door: Door) => schemas.budgetList.parse(await (await door.call("GET", "/budgets")).json()).data;
const told = async (response: Response) => [response.status, await response.text()];

describe("a budget", () => {
  it("of a team, of its key and of a key for all teams is kept, told to its Budget, and shown with what is spent", async () => {
    const door = openDoor();
    const put = await door.call("PUT", "/budgets/team", { day: 20, month: 200 });
    expect(schemas.budgetAnswer.parse(await put.json()).data).toMatchObject({
      of: "team",
      team: "default",
      api_key_var: null,
      limits: { day: 20, month: 200 },
    });
    await door.call("PUT", "/budgets/keys/OPENAI_API_KEY", { month: 5.01 });
    await door.call("PUT", "/budgets/everybody/OPENAI_API_KEY", { day: 0.5 });
    expect([...door.budgets].map(([name, { limits }]) => [name, limits])).toEqual([
      ["team/default", { day: 20_000_000_000, month: 200_000_000_000 }],
      ["key/default/OPENAI_API_KEY", { month: 5_010_000_000 }],
      ["key/*/OPENAI_API_KEY", { day: 500_000_000 }],
    ]);
    const team = door.budgets.get("team/default");
    const spent = { settled: 1_230_000_000, unseen: { calls: 2, amount: 20_000_000 } };
    if (team !== undefined) team.spent = { total: spent, day: spent, month: { ...spent, settled: 30_000_000_000 } };
    const data = await list(door);
    expect(data.map(({ of, team: whose, api_key_var }) => [of, whose, api_key_var])).toEqual([
      ["team", "default", null],
      ["key", "default", "OPENAI_API_KEY"],
      ["everybody", null, "OPENAI_API_KEY"],
    ]);
    expect(data[0]?.spent).toEqual({
      day: { settled_usd: 1.23, unseen_usd: 0.02, unseen_calls: 2 },
      month: { settled_usd: 30, unseen_usd: 0.02, unseen_calls: 2 },
      allotted_usd: 0,
    });
    if (team !== undefined) team.batches = { jobs: 3, amount: 700_000_000 };
    const held = { batches: 3, batches_usd: 0.7 };
    expect((await list(door))[0]?.spent).toMatchObject({ day: held, month: held });
    expect(door.registry.audited).toMatchObject([{ action: "budget.set" }, { action: "budget.set" }, { action: "budget.set" }]);
  });

  it("is cleared: what was begun under it goes on without a limit, and nothing else is limited by it", async () => {
    const door = openDoor();
    await door.call("PUT", "/budgets/keys/OPENAI_API_KEY", { day: 1 });
    expect((await door.call("DELETE", "/budgets/keys/OPENAI_API_KEY")).status).toBe(200);
    expect(door.budgets.get("key/default/OPENAI_API_KEY")?.limits).toEqual({});
    expect(await list(door)).toEqual([]);
    expect((await door.call("DELETE", "/budgets/keys/OPENAI_API_KEY")).status).toBe(404);
  });

  it.each([
    ["/budgets/team", {}, "say what may be spent"],
    ["/budgets/team", { day: 0 }, '"day"'],
    ["/budgets/team", { month: 1e7 }, '"month"'],
    ["/budgets/team", { week: 5 }, "week"],
    ["/budgets/team", { day: "20" }, '"day"'],
    ["/budgets/keys/lower", { day: 1 }, "capitals"],
    ["/budgets/everybody/a b", { day: 1 }, "capitals"],
  ])("%s with %j is refused by the field", async (path, body, words) => {
    const door = openDoor();
    expect(await told(await door.call("PUT", path, body))).toEqual([422, expect.stringContaining(words)]);
    expect(await list(door)).toEqual([]);
  });
});
