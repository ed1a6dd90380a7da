import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const STATS = {
  answers: 4000,
  bytes: 12_345_678,
  oldest_at: "2026-11-20T10:00:00.000Z",
  newest_at: "2026-11-22T10:00:00.000Z",
  expires_at: "2026-12-20T10:00:00.000Z",
  asking: 0,
};

let cwd = "";
let service: FakeService;
let stats = STATS;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-cache-"));
  stats = STATS;
  service = await startFakeService((request, response) => {
    if (request.path.endsWith("/health")) return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    return sendJson(response, 200, { data: request.method === "DELETE" ? { answers: 1, bytes: 900 } : stats });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = async (...args: readonly string[]) => {
  const { code, out, err } = await runInProcess(["cache", ...args], { cwd, columns: 100, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "owner" } });
  return { code, lines: out.map((line) => line.replace(/ {2,}/g, " | ")), stderr: err };
};
const asked = () =>
  service.asked
    .filter(({ path }) => !path.endsWith("/health"))
    .map(({ method, path, query }) => `${method} ${path.replace("/api/v1", "")}${query.size > 0 ? `?${query}` : ""}`);

describe("edgewise cache", () => {
  it("shows how many answers are kept, how large and how old they are, and when the next expires", async () => {
    expect((await run()).lines).toEqual(["Kept | 4,000 answers (12 MB)", "Oldest | 2026-11-20T10:00:00.000Z", "Expires | 2026-12-20T10:00:00.000Z (the next)"]);
    expect(JSON.parse((await run("stats", "--team", "acme", "-o", "json")).lines.join("").replaceAll(" | ", "")).data).toEqual(STATS);
    stats = { ...STATS, answers: 0, bytes: 0 };
    expect(String((await run()).stderr)).toContain("No answers are kept");
    expect(asked()).toEqual(["GET /cache", "GET /cache?team_id=acme", "GET /cache"]);
  });

  it("clears all of them, or those of a model or an age, and not where nobody can be asked and nobody said yes", async () => {
    const unasked = await run("clear");
    expect([unasked.code, String(unasked.stderr)]).toEqual([5, expect.stringContaining("--yes clears it without a question")]);
    expect(asked()).toEqual([]);
    expect((await run("clear", "--yes")).lines).toEqual(["Cleared: 1 answer (1 kB). Runs ask anew from now on."]);
    expect((await run("clear", "-y", "-m", "openai/gpt-4.1", "--older-than-days", "30", "--team", "acme")).code).toBe(0);
    expect(asked()).toEqual(["DELETE /cache", "DELETE /cache?team_id=acme&model=openai%2Fgpt-4.1&older_than_days=30"]);
    const bad = await run("clear", "-y", "--older-than-days", "400");
    expect([bad.code, String(bad.stderr)]).toEqual([2, expect.stringContaining("--older-than-days")]);
  });
});
