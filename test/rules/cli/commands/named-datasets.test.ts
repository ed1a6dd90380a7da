import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { sha256Hex } from "../../../../src/config/sha256.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const WORDS = {
  name: "words",
  created_at: "2026-01-02T00:00:00.000Z",
  revisions: [{ revision: "a".repeat(40), files: [{ path: "train.jsonl", dataset: "", bytes: 3 }], created_at: "2026-01-02T00:00:00.000Z", created_by: "ada" }],
};
let cwd = "";
let service: FakeService;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-named-"));
  service = await startFakeService(({ method, path: asked }, response) => {
    const path = asked.replace("/api/v1", "");
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path.startsWith("/datasets/")) return method === "HEAD" ? void response.writeHead(404).end() : sendJson(response, 201, {});
    if (path === "/named-datasets") return sendJson(response, 200, { data: [WORDS] });
    if (path === "/named-datasets/words") return sendJson(response, 200, method === "DELETE" ? { message: "Data set deleted." } : { data: WORDS });
    return sendJson(response, 404, { detail: "Data set not found.", code: "not_found" });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const run = (...args: readonly string[]) => runInProcess(args, { cwd, columns: 200, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "owner" } });

describe("edgewise dataset", () => {
  it("put uploads the files and names them", async () => {
    writeFileSync(join(cwd, "train.jsonl"), "{}\n");
    const { code, out, err } = await run("dataset", "put", "words", "train.jsonl");
    expect([code, err]).toEqual([0, expect.stringContaining('load_dataset("edgewise/words")')]);
    expect(out.join("\n")).toMatch(/words +a{12} +3 B +2026-01-02 +train\.jsonl/);
    const digest = await sha256Hex("{}\n");
    const sent = service.asked.filter(({ method }) => method === "PUT").map(({ path, body }) => [path.replace("/api/v1", ""), body]);
    expect(sent).toEqual([
      [`/datasets/${digest}`, "{}\n"],
      ["/named-datasets/words", JSON.stringify({ files: [{ path: "train.jsonl", dataset: `sha256:${digest}` }] })],
    ]);
  });

  it("put refuses a file that is not there, and two of one name, before anything is sent", async () => {
    writeFileSync(join(cwd, "train.jsonl"), "{}\n");
    expect(await run("dataset", "put", "words", "none.jsonl")).toMatchObject({ code: 2, err: expect.stringContaining("none.jsonl does not exist") });
    expect(await run("dataset", "put", "words", "train.jsonl", "./train.jsonl")).toMatchObject({
      code: 2,
      err: expect.stringContaining("two files are called"),
    });
    expect(service.asked).toEqual([]);
  });

  it("list shows them, and delete says what was done", async () => {
    expect((await run("dataset", "list")).out.join("\n")).toContain("words");
    expect((await run("dataset", "list", "-o", "json")).out.join("\n")).toContain('"revision"');
    expect(await run("dataset", "delete", "words")).toMatchObject({ code: 0, out: ["Data set deleted."] });
    expect(await run("dataset", "delete", "others")).toMatchObject({ code: 1, err: expect.stringContaining("Data set not found.") });
  });
});
