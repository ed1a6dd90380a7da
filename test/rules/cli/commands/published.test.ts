import { createHash } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { MAX_README_BYTES } from "../../../../src/limits.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const SHA = "c".repeat(64);
const LATEST = { semantic_version: "1.2.0", content_hash: SHA, created_at: "2026-01-02T00:00:00.000Z" };
const FACTS = { name: "my-sums", owner: { name: "acme" }, description: "Adds.", visibility: "PRIVATE", latest_version: LATEST };
const CODE = "export default 1;\n";
const CODE_SHA = createHash("sha256").update(CODE).digest("hex");
const OTHER_SHA = "a7a0d1f5b4a2b0c6";

let cwd = "";
let service: FakeService;
/** What it says of the module that it sends. */
let digest = OTHER_SHA;
/** What the service refuses a push with. */
/** Digest of the README that it keeps; null: it knows of none. */
let readme: string | null = null;
let refusal: { status: number; body: object } | null = null;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-published-"));
  refusal = null;
  readme = null;
  digest = OTHER_SHA;
  service = await startFakeService(({ method, path: asked, query }, response) => {
    const path = asked.replace("/api/v1", "");
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path.startsWith("/user/teams")) return sendJson(response, 200, { data: [{ teamId: "acme" }] });
    if (method === "PUT" && refusal !== null) return sendJson(response, refusal.status, refusal.body);
    if (method === "PUT")
      return sendJson(response, 200, { data: { ...FACTS, version: "1.2.0", sha256: SHA, latest: true, ...(readme === null ? {} : { readme }) } });
    if (method === "PATCH") return sendJson(response, 200, { data: FACTS });
    if (method === "DELETE") return sendJson(response, 200, { message: "Deleted." });
    if (path.endsWith("/status")) return sendJson(response, 200, { data: FACTS });
    if (path.endsWith("/versions"))
      return sendJson(response, 200, {
        data: [{ version: "1.2.0", created_at: LATEST.created_at, created_by: "ada", sha256: SHA, bytes: 2048, latest: true }],
      });
    if (path.endsWith("/module")) return void response.writeHead(200, { "content-type": "text/javascript" }).end(CODE);
    if (path.endsWith("/readme")) return void response.writeHead(200, { "content-type": "text/markdown" }).end("# Sums\n");
    if (path.endsWith("/source-map")) return void response.writeHead(200, { "content-type": "application/json" }).end("{}");
    if (path === "/environmentshub/") {
      const first = query.get("offset") === "0" ? [{ ...FACTS, name: "first" }] : [];
      const data = [...first, FACTS].map((each) => ({ ...each, latest_version: "1.2.0", updated_at: null, bundled: false }));
      return sendJson(response, 200, { data: data.slice(0, 1), total_count: 2 });
    }
    if (path.startsWith("/environmentshub/")) {
      const args = [{ name: "largest", schema: { type: "integer" }, required: false, default: 20, description: "largest number" }];
      const metadata = {
        args,
        keys: ["SEARCH_KEY"],
        module: { sha256: digest, bytes: CODE.length },
        source_map: { sha256: SHA, bytes: 2 },
        ...(readme === null ? {} : { readme: { sha256: readme, bytes: 7 } }),
        created_by: "ada",
      };
      return sendJson(response, 200, { data: { ...FACTS, version: LATEST, metadata } });
    }
    return sendJson(response, 404, { detail: "No such route.", code: "not_found" });
  });
});
afterEach(async () => {
  await service.close();
  rmSync(cwd, { recursive: true, force: true });
});

const env = (...args: readonly string[]) => runInProcess(["env", ...args], { cwd, columns: 200, env: { EDGEWISE_URL: service.url, EDGEWISE_TOKEN: "token" } });
const asked = (method: string): string[] => service.asked.flatMap((each) => (each.method === method ? [each.path.replace("/api/v1", "")] : []));

function environment({ id = "my-sums", version = "1.2.0" } = {}): void {
  writeFileSync(join(cwd, "package.json"), '{"type": "module"}');
  writeFileSync(
    join(cwd, "my_sums.ts"),
    `import { defineEnvironment, Rubric, SingleTurnEnv, z } from "edgewise";
export default defineEnvironment({ id: ${JSON.stringify(id)}, version: ${JSON.stringify(version)}, description: "Adds.", args: z.object({}),
  load: () => new SingleTurnEnv({ dataset: [{ question: "1 + 1?", answer: "2" }], rubric: new Rubric([]) }) });\n`,
  );
}

describe("env push", () => {
  it("sends one module with its digest, its map and what the environment says of itself, under the first team's name", async () => {
    environment();
    const { code, out, err } = await env("push", "my_sums.ts");
    expect([code, out, err]).toEqual([0, ["acme/my-sums@1.2.0"], expect.stringContaining("its team sees it")]);
    const sent = service.asked.find(({ method }) => method === "PUT");
    expect(sent?.path).toBe("/api/v1/environmentshub/acme/my-sums/@1.2.0");
    expect(sent?.headers["content-type"]).toMatch(/^multipart\/form-data; boundary=/);
    expect(sent?.body).toContain('from "./lib/index.js"');
    expect(sent?.body).toMatch(/\{"sha256":"[0-9a-f]{64}"\}/);
    expect(sent?.body).toContain('name="source_map"');
  }, 30_000);

  it("sends the README of an environment that has a folder of its own, and says where the service keeps another, or none", async () => {
    const folder = join(cwd, "environments", "my_sums");
    mkdirSync(folder, { recursive: true });
    environment();
    renameSync(join(cwd, "my_sums.ts"), join(folder, "my_sums.ts"));
    writeFileSync(join(cwd, "README.md"), "Of the project.");
    writeFileSync(join(folder, "README.md"), "# Sums\n");
    const none = await env("push", "my-sums");
    expect([none.code, none.err]).toEqual([0, expect.stringContaining("a version that keeps none")]);
    const sent = service.asked.find(({ method }) => method === "PUT")?.body;
    expect(sent).toContain('name="readme"');
    expect(sent).toContain("# Sums");
    readme = SHA;
    expect((await env("push", "my-sums")).err).toContain("push a new version for another one");
    readme = createHash("sha256").update("# Sums\n").digest("hex");
    expect((await env("push", "my-sums")).err).not.toContain("README");
    writeFileSync(join(folder, "README.md"), "x".repeat(MAX_README_BYTES + 1));
    expect(await env("push", "my-sums")).toMatchObject({ code: 2, err: expect.stringContaining("has 129 KiB; at most 128 KiB are published") });
    writeFileSync(join(folder, "README.md"), Buffer.from([0xff]));
    expect(await env("push", "my-sums")).toMatchObject({ code: 2, err: expect.stringContaining("UTF-8") });
  }, 60_000);

  it("takes another version, visibility and team where they are said", async () => {
    environment();
    expect((await env("push", "my_sums.ts", "--version", "2.0.0-rc.1", "--visibility", "public", "--team", "default")).code).toBe(0);
    const sent = service.asked.find(({ method }) => method === "PUT");
    expect(sent?.path).toBe("/api/v1/environmentshub/edgewise/my-sums/@2.0.0-rc.1");
    expect(sent?.body).toMatch(/"visibility":"PUBLIC"\}/);
  }, 30_000);

  it.each([
    ["an id that no published environment can have", { id: "My-Sums" }, [], '"My-Sums"'],
    ["the name of a bundled environment", { id: "gsm8k" }, [], "gsm8k is the name of a bundled environment"],
    ["the name of another owner", { id: "quokkas/my-sums" }, [], "acme publishes it"],
    ["a version that is none", { version: "1.2" }, [], "push it as another one: --version"],
    ["a version flag that is none", {}, ["--version", "next"], "MAJOR.MINOR.PATCH"],
  ])(
    "refuses %s, and sends nothing",
    async (_, changes, flags, says) => {
      environment(changes);
      const { code, err } = await env("push", "my_sums.ts", ...flags);
      expect([code, asked("PUT")]).toEqual([2, []]);
      expect(err).toContain(says);
    },
    30_000,
  );

  it("says what to type for a folder that is named like an environment, and for one that holds several", async () => {
    mkdirSync(join(cwd, "two"));
    for (const name of ["one.ts", "other.ts", "one.test.ts"]) writeFileSync(join(cwd, "two", name), "");
    expect(await env("push", "two")).toMatchObject({ code: 2, err: expect.stringContaining("The one of the current folder is ./two.") });
    expect(await env("push", "./two")).toMatchObject({ code: 2, err: expect.stringContaining("It has one.ts, other.ts: name the file that is meant.") });
  }, 30_000);

  it("says what is wrong with a file that is no environment, and what the service has against a version", async () => {
    writeFileSync(join(cwd, "my_sums.ts"), "export default 1;\n");
    expect(await env("push", "my_sums.ts")).toMatchObject({ code: 2, err: expect.stringContaining("cannot be loaded") });
    expect(await env("push", "nothing")).toMatchObject({ code: 2, err: expect.stringContaining('there is no environment "nothing" in ./environments') });
    environment();
    refusal = {
      status: 409,
      body: { detail: `my-sums@1.2.0 is published with other code: sha256 ${SHA}`, code: "illegal_transition", hint: "or push it with --version" },
    };
    expect(await env("push", "my_sums.ts")).toMatchObject({ code: 1, err: expect.stringMatching(new RegExp(`sha256 ${SHA}[^]*--version`)) });
    refusal = { status: 403, body: { detail: "This needs the scope environments:write.", code: "forbidden", hint: "token create" } };
    expect(await env("push", "my_sums.ts")).toMatchObject({ code: 1, err: expect.stringContaining("environments:write") });
  }, 30_000);
});

describe("published environments", () => {
  it("are listed beside the others, told, and named by what can be one", async () => {
    const list = await env("list");
    expect([list.code, list.out.join("\n")]).toEqual([0, expect.stringContaining("acme/my-sums 1.2.0 (published, for its team)")]);
    const listed = JSON.parse((await env("list", "-o", "json")).out.join("")) as { id: string; published?: object }[];
    // The service gives one in each answer.
    expect(listed.flatMap(({ id, published }) => (published === undefined ? [] : [id]))).toEqual(["acme/first", "acme/my-sums"]);
    expect(listed.at(-1)).toEqual({
      id: "acme/my-sums",
      version: "1.2.0",
      description: "Adds.",
      path: null,
      published: { visibility: "PRIVATE", updated_at: null },
    });
    const info = (await env("info", "acme/my-sums")).out.join("\n");
    expect(info).toMatch(/acme\/my-sums@1\.2\.0\n {2}Adds\.\n {2}PRIVATE, pushed 2026-01-02 by ada, the latest version/);
    expect(info).toContain("needs SEARCH_KEY\n  largest (integer, default 20): largest number");
    expect((await env("status", "acme/my-sums")).out[0]).toBe(`acme/my-sums: PRIVATE, latest version 1.2.0 (sha256 ${SHA.slice(0, 12)})`);
    expect((await env("versions", "acme/my-sums")).out[1]).toMatch(/^1\.2\.0 \(latest\) +2026-01-02 +ada/);
    for (const name of ["my-sums", "acme/my-sums@x", "a/b/c"])
      expect(await env("info", name)).toMatchObject({ code: 2, err: expect.stringContaining("OWNER/NAME") });
    expect(await env("status", "acme/my-sums@1.2.0")).toMatchObject({ code: 2, err: expect.stringContaining("Leave @1.2.0 out") });
  }, 30_000);

  it("are pulled whole or not at all", async () => {
    const damaged = await env("pull", "acme/my-sums");
    expect([damaged.code, damaged.err, existsSync(join(cwd, "my-sums-1.2.0"))]).toEqual([1, expect.stringContaining(OTHER_SHA), false]);
    digest = CODE_SHA;
    writeFileSync(join(cwd, "file"), "");
    const refused = await env("pull", "acme/my-sums", "--target", "file/below");
    expect([refused.code, refused.err]).toEqual([1, expect.stringMatching(/file\/below cannot be written: a part of the path is not a folder\n.*--target/)]);
    expect((await env("pull", "acme/my-sums")).out).toEqual(["wrote my-sums-1.2.0"]);
    expect(readdirSync(join(cwd, "my-sums-1.2.0")).sort()).toEqual(["manifest.json", "module.js", "module.js.map"]);
    readme = SHA;
    expect((await env("pull", "acme/my-sums", "--target", "with-readme")).code).toBe(0);
    expect(readFileSync(join(cwd, "with-readme", "README.md"), "utf8")).toBe("# Sums\n");
    expect(await env("pull", "acme/my-sums")).toMatchObject({ code: 2, err: expect.stringContaining("--target") });
  });

  it("are deleted by their version or whole, and never as the latest", async () => {
    expect((await env("delete", "acme/my-sums@1.2.0")).out).toEqual(["Deleted."]);
    expect((await env("delete", "acme/my-sums")).code).toBe(0);
    expect(await env("delete", "acme/my-sums@latest")).toMatchObject({ code: 2, err: expect.stringContaining("latest") });
    expect(asked("DELETE")).toEqual(["/environmentshub/acme/my-sums/@1.2.0", "/environmentshub/acme/my-sums"]);
    expect((await env("visibility", "acme/my-sums", "public")).code).toBe(0);
    expect(service.asked.at(-1)?.body).toBe('{"visibility":"PUBLIC"}');
    expect((await env("visibility", "acme/my-sums", "secret")).code).toBe(2);
  });
});
