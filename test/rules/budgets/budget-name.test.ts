import { describe, expect, it } from "vitest";
import { budgetOwner, budgetsFor, budgetsOf, keyBudget, runBudget, teamBudget } from "../../../src/budgets/budget-name.ts";

describe("names of budgets", () => {
  it.each([
    [runBudget({ run_id: "0000abcd" }), { kind: "run", run: "0000abcd" }],
    [runBudget({ run_id: "0000abcd", team: "acme" }), { kind: "run", run: "acme/0000abcd" }],
    [teamBudget("acme"), { kind: "team", team: "acme" }],
    [keyBudget("acme", "TEAM_KEY"), { kind: "key", team: "acme", variable: "TEAM_KEY" }],
    [keyBudget(null, "OPENAI_API_KEY"), { kind: "key", team: null, variable: "OPENAI_API_KEY" }],
  ])("say whose it is: %s", (name, owner) => {
    expect(budgetOwner(name)).toEqual(owner);
  });

  it.each(["", "acme", "key/acme", "team/acme/x", "key/acme/A/B"])("are no others: %j", (name) => {
    expect(() => budgetOwner(name)).toThrow(RangeError);
  });

  it("are those of a run, and for a call those of its key alone", () => {
    const config = { run_id: "0000abcd", max_cost: 5, budgets: ["team/acme", "key/acme/TEAM_KEY", "key/*/OPENAI_API_KEY"] };
    expect(budgetsOf(config)).toEqual(["run/0000abcd", "team/acme", "key/acme/TEAM_KEY", "key/*/OPENAI_API_KEY"]);
    expect(budgetsFor(config, "TEAM_KEY")).toEqual(["run/0000abcd", "team/acme", "key/acme/TEAM_KEY"]);
    expect(budgetsOf({ run_id: "0000abcd" })).toEqual([]);
  });
});
