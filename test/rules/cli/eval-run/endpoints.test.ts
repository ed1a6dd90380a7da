import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EvalWish } from "../../../../src/cli/eval-run/wish/eval-wish.ts";
import { withKeptEndpoints } from "../../../../src/cli/eval-run/start/kept-endpoints.ts";
import { ServiceClient } from "../../../../src/cli/connection/http-client.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

const FAST = {
  endpoint_id: "fast",
  model: "big/model",
  api_client_type: "anthropic_messages",
  replicas: [{ api_base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY", headers: { "X-A": "1\u001b[31m" } }],
};
let cwd = "";
let service: FakeService;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-endpoints-"));
  service = await startFakeService((request, response) => {
    const path = request.path.replace("/api/v1", "");
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path === "/endpoints") return sendJson(response, 200, { data: [FAST] });
    if (path === "/endpoints/fast") return sendJson(response, 200, request.method === "DELETE" ? { message: "Endpoint deleted." } : { data: FAST });
    return sendJson(response, 404, { detail: "Endpoint not found.", code: "not_found" });
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
const asked = () =>
  service.asked
    .filter(({ path }) => path !== "/health")
    .map(({ method, path, query, body }) => [
      `${method} ${path.replace("/api/v1", "")}${query.size > 0 ? `?${query}` : ""}`,
      body === "" ? null : (JSON.parse(body) as unknown),
    ]);

describe("edgewise endpoint", () => {
  it("add sends the entry that endpoints.toml would have, or all entries of a file", async () => {
    const flags = ["-m", "big/model", "-b", "https://models.example/v1", "-k", "MODELS_API_KEY", "--header", "X-A: 1", "--team", "acme"];
    const { code, stdout, stderr } = await run("endpoint", "add", "fast", ...flags);
    expect([code, stderr]).toEqual([0, expect.stringContaining("eval run ENV -m fast")]);
    expect(stdout).not.toContain("\u001b");
    const entry = { endpoint_id: "fast", model: "big/model", url: "https://models.example/v1", key: "MODELS_API_KEY" };
    writeFileSync(
      join(cwd, "endpoints.toml"),
      '[[endpoint]]\nendpoint_id = "fast"\nmodel = "m"\nurl = "https://a.example/v1"\nkey = "A_API_KEY"\n[[limit]]\nendpoint_id = "fast"\nconcurrent = 4\n',
    );
    expect(await run("endpoint", "add", "endpoints.toml", "--replace")).toMatchObject({ code: 0, stderr: expect.stringContaining("limits set NAME") });
    expect(asked()).toEqual([
      ["POST /endpoints?team_id=acme", { endpoint: [{ ...entry, headers: { "X-A": "1" } }] }],
      ["PUT /endpoints/fast", { endpoint: [{ endpoint_id: "fast", model: "m", url: "https://a.example/v1", key: "A_API_KEY" }] }],
    ]);
  });

  it("list, get and delete say what there is", async () => {
    const list = await run("endpoint", "list");
    expect(list.stdout).toMatch(/^ENDPOINT +MODEL +ADDRESS +KEY/);
    expect(list.stdout).toContain("MODELS_API_KEY");
    expect((await run("endpoint", "get", "fast", "-o", "json")).stdout).toContain('"api_base_url"');
    expect((await run("endpoint", "delete", "fast")).stdout).toBe("Endpoint deleted.");
    expect(asked().map(([line]) => line)).toEqual(["GET /endpoints", "GET /endpoints/fast", "DELETE /endpoints/fast"]);
    expect(await run("endpoint", "get", "none")).toMatchObject({ code: 1, stderr: expect.stringContaining("Endpoint not found") });
  });

  it.each([
    [["endpoint", "add", "fast"], "an endpoint needs --model, --api-base-url, --api-key-var"],
    [["endpoint", "add", "fast", "-m", "m", "-b", "https://a.example", "-k", "K", "--header", "x"], "--header: must be of the form"],
    [["endpoint", "add", "none.toml"], "the registry none.toml cannot be read"],
    [["endpoint", "add", "none.toml", "-m", "m"], "leave out the other flags"],
    [["endpoint", "list", "--team", "A B"], '--team: "A B"'],
  ])("refuses %j by name before it asks", async (args, words) => {
    const { code, stderr } = await run(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(words)]);
    expect(asked()).toEqual([]);
  });
});

describe("an evaluation that names an endpoint of the service", () => {
  const wish = (given: EvalWish["given"], more: Partial<EvalWish> = {}): EvalWish =>
    ({ envId: "gsm8k", reference: "gsm8k", label: "gsm8k", place: null, given, replicas: [], ...more }) as EvalWish;
  const written = async (...wishes: readonly EvalWish[]) => {
    const client = new ServiceClient(service.url, { attended: null, token: "owner" });
    return (await withKeptEndpoints(client, wishes)).map(({ given }) => given);
  };

  it("has it written out, as model or as endpoint_id, with what is given besides over it; each name is asked for once", async () => {
    const place = { model: "big/model", api_base_url: "https://models.example/v1", api_key_var: "MODELS_API_KEY", api_client_type: "anthropic_messages" };
    const found = await written(wish({ model: "fast" }), wish({ endpoint_id: "fast", api_key_var: "OTHER_API_KEY", max_concurrent: 3 }));
    expect(found).toEqual([
      { ...place, headers: FAST.replicas[0]?.headers },
      { ...place, api_key_var: "OTHER_API_KEY", max_concurrent: 3, headers: FAST.replicas[0]?.headers },
    ]);
    expect(asked()).toEqual([["GET /endpoints/fast", null]]);
  });

  it("stays as it is where the command says where the model is called, or nobody keeps the name", async () => {
    const own = { model: "fast", api_base_url: "https://own.example/v1" };
    expect(await written(wish(own), wish({ resume: "out/x" }), wish({ model: "other" }))).toEqual([own, { resume: "out/x" }, { model: "other" }]);
    expect(asked()).toEqual([["GET /endpoints/other", null]]);
  });

  it("is refused for an endpoint_id that neither has", async () => {
    await expect(written(wish({ endpoint_id: "none" }, { place: "c.toml: [[eval]] #2" }))).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringMatching(/^c\.toml: \[\[eval\]\] #2: endpoint_id "none" is in no registry of this machine .*keeps no endpoint/),
    });
  });
});
