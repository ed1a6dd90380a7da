import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const GONE = { detail: "environment_ids.0: acme/sums is deleted.", code: "environment_not_found", hint: "Push it again: npx edgewise env push" };
const FILE = ["first", "second"].map((name) => `[[evaluator]]\nname = "${name}"\n[[evaluator.evaluations]]\neval = { env_id = "acme/sums" }\n`).join("");

let cwd = "";
let service: FakeService;
beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-apply-"));
  service = await startFakeService(({ method, path }, response) => {
    if (path.endsWith("/health")) return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (method === "PUT" && path.endsWith("/second")) return sendJson(response, 404, GONE);
    return sendJson(response, 200, method === "PUT" ? { change: "add", fields: [], data: { name: "first" } } : { data: [] });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});

it("of a file of several, the one that the service refuses is named, and nothing is changed", async () => {
  writeFileSync(join(cwd, "evaluators.toml"), FILE);
  const answer = await runInProcess(["evaluator", "apply", "evaluators.toml"], {
    cwd,
    columns: 200,
    env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "token" },
  });
  expect([answer.code, answer.err]).toEqual([2, expect.stringMatching(/second: environment_ids\.0: acme\/sums is deleted\n {2}Push it again/)]);
  expect(service.asked.filter(({ method, query }) => method === "PUT" && query.get("dry_run") !== "true")).toEqual([]);
});
