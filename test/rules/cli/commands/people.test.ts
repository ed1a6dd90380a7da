import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { tokenLines } from "../../../../src/cli/people/tokens.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

let cwd = "";
let service: FakeService | null = null;
const TOKEN = {
  id: "0123456789ab",
  name: "ci\u001b[31m",
  user: "ada",
  teams: ["acme"],
  scopes: ["runs:write"],
  created_at: "2026-11-22T08:00:00.000Z",
  created_by: "edgewise",
  expires_at: null,
  revoked_at: null,
  last_used_at: null,
};

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-people-"));
  service = await startFakeService((request, response) => {
    const path = request.path.replace("/api/v1", "");
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (`${request.method} ${path}` === "POST /tokens") return sendJson(response, 201, { data: { ...TOKEN, token: "ew_secret" } });
    if (`${request.method} ${path}` === "GET /tokens") return sendJson(response, 200, { data: [TOKEN] });
    if (request.method === "DELETE" && path.startsWith("/tokens/")) return sendJson(response, 200, { data: { ...TOKEN, revoked_at: TOKEN.created_at } });
    if (path === "/audit") {
      const entry = {
        time: TOKEN.created_at,
        user: "ada",
        via: "token",
        token: TOKEN.id,
        origin: "192.0.2.7",
        action: "run.delete",
        status: 200,
        ended_at: null,
      };
      const first = { ...entry, seq: 4, target: "0000abcd\u001b[2J" };
      const last = { ...entry, seq: 9, token: null, via: "owner", target: null, status: null };
      const page = request.query.get("after") === "4" ? { data: [last], next: 9, more: false } : { data: [first], next: 4, more: true };
      return sendJson(response, 200, page);
    }
    if (path === "/teams/acme/limits") {
      const limits = { runs: 10, rollouts: null, stored_bytes: 50e9, retention_days: 1, audit_days: null };
      return sendJson(response, 200, { data: { team: "acme", limits, set: ["runs"], used: { runs: 3, rollouts: 96, stored_bytes: 1_234_567 } } });
    }
    if (path.startsWith("/teams")) {
      const team = { team: "acme", created_at: TOKEN.created_at, members: [{ user: "ada", email: "ada@example.com", scopes: ["admin"] }] };
      return sendJson(response, 200, { data: path === "/teams" ? [team] : team });
    }
    return sendJson(response, 404, { detail: "No such route.", code: "not_found" });
  });
});
afterEach(async () => {
  await service?.close();
  rmSync(cwd, { recursive: true, force: true });
});
const run = async (...args: readonly string[]) => {
  const { code, out, err } = await runInProcess(args, { cwd, columns: 200, env: { EDGEWISE_URL: service?.url ?? "", EDGEWISE_TOKEN: "owner" } });
  return { code, stdout: out.map((line) => `${line}\n`).join(""), stderr: err };
};
const asked = () =>
  (service?.asked ?? [])
    .slice(1)
    .map(({ method, path, query, body }) => [`${method} ${path}${query.size > 0 ? `?${query}` : ""}`, body === "" ? null : (JSON.parse(body) as unknown)]);

describe("edgewise token", () => {
  it("create prints the text alone, so that a script may take it, and says beside it what it is good for", async () => {
    const { code, stdout, stderr } = await run(
      "token",
      "create",
      "ci",
      "--scope",
      "runs:write,runs:read",
      "--scope",
      "secrets:write",
      "--expires",
      "30d",
      "--team",
      "acme",
    );
    expect([code, stdout]).toEqual([0, "ew_secret\n"]);
    expect(stderr).toContain("Token 0123456789ab: runs:write as ada in acme. It is shown this once");
    expect(stderr).not.toContain("ew_secret");
    expect(asked()).toEqual([
      ["POST /api/v1/tokens", { name: "ci", scopes: ["runs:write", "runs:read", "secrets:write"], expires_in: "30d", teams: ["acme"] }],
    ]);
  });

  it("list and revoke say what there is, with nothing in it that acts on the terminal", async () => {
    const list = await run("token", "list", "--team", "acme");
    expect(list.code).toBe(0);
    expect(list.stdout).toMatch(/^TOKEN +NAME +USER/);
    expect(list.stdout).not.toContain("\u001b");
    const revoke = await run("token", "revoke", TOKEN.id);
    expect(revoke.stdout).toContain(`Token ${TOKEN.id} is revoked`);
    expect(asked().map(([line]) => line)).toEqual(["GET /api/v1/tokens?team_id=acme", expect.any(String), `DELETE /api/v1/tokens/${TOKEN.id}`]);
  });

  it.each([
    [["token", "create", "ci"], "--scope"],
    [["token", "create", "ci", "--scope", "runs"], '"runs" is none of runs:read'],
    [["token", "create", "ci", "--scope", "admin", "--expires", "soon"], "--expires: must be a number and m, h or d"],
    [["token", "create", "ci", "--scope", "admin", "--user", "A B"], '--user: "A B" must be 1 to 32'],
    [["token", "revoke", "../teams"], "this is not the id of a token"],
    [["team", "create", "Acme"], 'TEAM: "Acme" must be'],
  ])("refuses %j by name before it asks", async (args, words) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toContain(words);
    expect(service?.asked ?? []).toEqual([]);
  });

  it("tells what is revoked, over, or used when", () => {
    const at = Date.parse("2026-11-22T09:00:00Z");
    const lines = tokenLines(
      [
        { ...TOKEN, name: "a", last_used_at: "2026-11-22T08:30:00.000Z", expires_at: "2026-12-01T00:00:00.000Z" },
        { ...TOKEN, name: "b", expires_at: "2026-11-22T08:59:00.000Z" },
        { ...TOKEN, name: "c", revoked_at: "2026-11-22T08:59:00.000Z" },
      ],
      200,
      at,
    );
    expect(lines.map((line) => line.replace(/ +/g, " ").trim()).slice(1)).toEqual([
      "0123456789ab a ada acme runs:write 2026-11-22 08:30 2026-12-01 00:00",
      "0123456789ab b ada acme runs:write never over",
      "0123456789ab c ada acme runs:write never revoked",
    ]);
  });
});

it("edgewise team makes teams, and adds and removes their users", async () => {
  for (const args of [
    ["create", "acme"],
    ["add", "acme", "ada", "--scope", "admin", "--email", "ada@example.com"],
    ["add", "acme", "bob"],
    ["remove", "acme", "bob"],
    ["list"],
  ]) {
    const { code, stdout } = await run("team", ...args);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^TEAM +USER +MAY +EMAIL\nacme +ada +admin +ada@example.com\n$/)]);
  }
  expect(asked().filter(([line]) => !String(line).includes("/health"))).toEqual([
    ["PUT /api/v1/teams/acme", {}],
    ["PUT /api/v1/teams/acme/members/ada", { scopes: ["admin"], email: "ada@example.com" }],
    ["PUT /api/v1/teams/acme/members/bob", {}],
    ["DELETE /api/v1/teams/acme/members/bob", null],
    ["GET /api/v1/teams", null],
  ]);
});

it("edgewise team limits shows what a team may use and what it does, and changes it by flags made from the table", async () => {
  const { code, stdout } = await run("team", "limits", "acme");
  expect([code, stdout.replace(/ +/g, " ").split("\n")]).toEqual([
    0,
    [
      "LIMIT VALUE IN USE SET",
      "runs 10 3 yes",
      "rollouts none 96 default",
      "stored_bytes 50 GB 1.23 MB default",
      "retention_days 1 day - default",
      "audit_days none - default",
      "",
    ],
  ]);
  await run("team", "limits", "acme", "--runs", "10", "--rollouts", "none", "--stored-bytes", "default", "--retention-days", "30");
  await run("token", "create", "ci", "--scope", "runs:write", "--runs", "2", "--requests-per-minute", "60");
  expect(asked().filter(([line]) => !String(line).includes("/health"))).toEqual([
    ["GET /api/v1/teams/acme/limits", null],
    ["PUT /api/v1/teams/acme/limits", { runs: 10, rollouts: null, stored_bytes: "default", retention_days: 30 }],
    ["POST /api/v1/tokens", { name: "ci", scopes: ["runs:write"], limits: { runs: 2, requests_per_minute: 60 } }],
  ]);
  for (const [flag, value] of [
    ["--runs", "0"],
    ["--runs", "50GB"],
    ["--stored-bytes", "much"],
  ] as const)
    expect(await run("team", "limits", "acme", flag, value)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`${flag}: must be a whole number between 1 and`),
    });
});

it("edgewise audit prints all pages, a line for each entry, or an object on a line to be kept elsewhere", async () => {
  const { code, stdout } = await run("audit", "--team", "acme");
  expect(code).toBe(0);
  expect(stdout.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/^2026-11-22 08:00:00Z {2}ada \(token 0123456789ab\) from 192\.0\.2\.7: run\.delete 0000abcd.*, 200$/),
    "2026-11-22 08:00:00Z  ada (owner) from 192.0.2.7: run.delete, no end known",
  ]);
  expect(stdout).not.toContain("\u001b");
  const json = (await run("audit", "--after", "4", "-o", "json")).stdout.trim().split("\n");
  expect(json.map((line) => (JSON.parse(line) as { seq: number }).seq)).toEqual([9]);
  expect(
    asked()
      .map(([line]) => line)
      .filter((line) => String(line).includes("audit")),
  ).toEqual(["GET /api/v1/audit?after=0&team_id=acme", "GET /api/v1/audit?after=4&team_id=acme", "GET /api/v1/audit?after=4"]);
});
