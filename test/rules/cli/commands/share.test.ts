import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const LINK = "https://edgewise.example/shared/acme/abc/0000abcd";
let cwd = "";
let service: FakeService;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-share-"));
  service = await startFakeService(({ method, path }, response) => {
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path !== "/api/v1/evaluations/0000abcd/link") return sendJson(response, 404, { detail: "Evaluation not found.", code: "not_found" });
    return sendJson(response, 200, method === "PUT" ? { is_public: true, link: LINK } : { is_public: false, link: null });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});
const run = async (...args: readonly string[]) => {
  const { code, out, err } = await runInProcess(args, { cwd, columns: 200, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "owner" } });
  return { code, stdout: out.join("\n"), stderr: err };
};

it("edgewise eval share prints the link alone, and says beside it what it opens; unshare takes it back", async () => {
  const shared = await run("eval", "share", "0000abcd");
  expect(shared).toMatchObject({ code: 0, stdout: LINK, stderr: expect.stringContaining("its page, samples and files, and nothing else") });
  expect(await run("eval", "unshare", "0000abcd")).toMatchObject({
    code: 0,
    stdout: "Run 0000abcd is read by its team alone; a link that there was leads nowhere.",
  });
  expect(JSON.parse((await run("eval", "share", "0000abcd", "-o", "json")).stdout)).toEqual({ is_public: true, link: LINK });
  expect(await run("eval", "share", "0000ffff")).toMatchObject({ code: 1, stderr: expect.stringContaining("knows no run 0000ffff") });
  expect(await run("eval", "share", "../x")).toMatchObject({ code: 2, stderr: expect.stringContaining("is not a run id") });
});
