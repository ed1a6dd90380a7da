import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const spent = (settled_usd: number, unseen_usd = 0) => ({ settled_usd, unseen_usd, unseen_calls: unseen_usd === 0 ? 0 : 1 });
const TEAM = {
  ...{ of: "team", team: "acme", api_key_var: null, limits: { day: 20, month: 200 }, updated_at: "2026-11-22T10:00:00.000Z", updated_by: "ada" },
  spent: { day: spent(1.2, 0.03), month: spent(30), allotted_usd: 0.1 },
};
const KEY = { ...TEAM, of: "everybody", team: null, api_key_var: "OPENAI_API_KEY", limits: { month: 0.5 }, spent: null, updated_by: "owner" };

let cwd = "";
let service: FakeService;
let data: readonly object[] = [];

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-budgets-"));
  data = [TEAM, KEY];
  service = await startFakeService((request, response) => {
    const path = request.path.replace("/api/v1", "");
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path === "/budgets") return sendJson(response, 200, { data });
    return sendJson(response, 200, request.method === "DELETE" ? { message: "Budget cleared." } : { data: TEAM });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = async (args: readonly string[]) => {
  const { code, out, err } = await runInProcess(["budget", ...args], { cwd, columns: 100, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "owner" } });
  return { code, lines: out, stderr: err };
};
const asked = () =>
  service.asked
    .filter(({ path }) => path !== "/health")
    .map(({ method, path, query, body }) => [
      `${method} ${path.replace("/api/v1", "")}${query.size > 0 ? `?${query}` : ""}`,
      body === "" ? null : (JSON.parse(body) as unknown),
    ]);

describe("edgewise budget", () => {
  it("shows what each team and key may spend, and what is spent of it this day and this month", async () => {
    expect((await run([])).lines.map((line) => line.replace(/ {2,}/g, " | "))).toEqual([
      "TEAM | KEY | TODAY | THIS MONTH | BY",
      "acme | any | $1.23 ($0.0300 unseen) of $20.00 | $30.00 of $200.00 | ada",
      "all | OPENAI_API_KEY | - | - of $0.5000 | owner",
    ]);
    data = [{ ...TEAM, spent: { ...TEAM.spent, day: { ...spent(1.2, 0.03), batches_usd: 5, batches: 2 } } }];
    expect((await run([])).lines[1]).toContain("$1.23 ($0.0300 unseen) ($5.00 in batches) of $20.00");
    data = [];
    expect((await run(["ls", "--team", "acme"])).stderr).toContain("npx edgewise budget set --month 200");
    expect(asked()).toEqual([
      ["GET /budgets", null],
      ["GET /budgets", null],
      ["GET /budgets?team_id=acme", null],
    ]);
  });

  it("sets and clears a team's, a key's, and a key's for all teams", async () => {
    await run(["set", "--team", "acme", "--day", "20", "--month", "$200"]);
    await run(["set", "--key", "OPENAI_API_KEY", "--month", "0.50"]);
    await run(["set", "-k", "OPENAI_API_KEY", "--all-teams", "--day", "5"]);
    expect((await run(["clear", "--key", "OPENAI_API_KEY", "--team", "acme"])).lines).toEqual(["Budget cleared."]);
    expect(asked()).toEqual([
      ["PUT /budgets/team?team_id=acme", { day: 20, month: 200 }],
      ["PUT /budgets/keys/OPENAI_API_KEY", { month: 0.5 }],
      ["PUT /budgets/everybody/OPENAI_API_KEY", { day: 5 }],
      ["DELETE /budgets/keys/OPENAI_API_KEY?team_id=acme", null],
    ]);
  });

  it.each([
    [["set"], "say what may be spent"],
    [["set", "--day", "many"], '--day: must be dollars, such as 20 or 0.50, not "many"'],
    [["set", "--day", "0"], "--day must be at least"],
    [["set", "--key", "sk-123", "--day", "1"], "never the key"],
    [["set", "--all-teams", "--day", "1"], "--all-teams is of a key"],
    [["clear", "--all-teams", "--key", "A_KEY", "--team", "acme"], "leave out one of them"],
    [["lst"], 'budget "lst": there is no such command'],
  ])("%j is refused by name before anything is asked", async (args, words) => {
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(words) });
    expect(asked()).toEqual([]);
  });
});
