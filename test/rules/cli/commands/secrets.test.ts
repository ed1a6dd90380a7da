import { chmodSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { beginRotation, endRotation, masterKeyTexts } from "../../../../src/cli/state/master-key.ts";
import { isMasterKey, masterKeyId } from "../../../../src/secrets/master-keys.ts";
import { type FakeService, sendJson, startFakeService } from "../../../support/cli/cli-fake-service.ts";
import { runInProcess } from "../../../support/cli/cli-in-process.ts";

let cwd = "";
let service: FakeService | null = null;
const SECRET = {
  id: "0123456789ab",
  name: "SEARCH_KEY",
  description: null,
  hosts: ["api.example.com"],
  createdBy: "ada",
  createdAt: "2026-11-22T08:00:00.000Z",
  updatedAt: "2026-11-22T08:00:00.000Z",
};
const slices = [
  { key: "0a0a0a0a", changed: 2, unreadable: 0, next: { team: "acme", after: "" } },
  { key: "0a0a0a0a", changed: 1, unreadable: 0, next: null },
  { key: "0a0a0a0a", changed: 0, unreadable: 0, next: null },
];
let turn = 0;

beforeEach(async () => {
  cwd = mkdtempSync(join(tmpdir(), "edgewise-secrets-"));
  turn = 0;
  service = await startFakeService((request, response) => {
    const path = request.path.replace("/api/v1", "");
    if (path === "/health") return sendJson(response, 200, { status: "ok", version: "0.0.0" });
    if (path === "/secrets/rotate") return sendJson(response, 200, { data: slices[turn++] });
    if (request.method === "GET") return sendJson(response, 200, { data: [SECRET] });
    return sendJson(response, 200, { data: SECRET });
  });
});
afterEach(async () => {
  await service?.close();
  rmSync(cwd, { recursive: true, force: true });
});

const typed = (...args: string[]) => runInProcess(args, { cwd, env: { EDGEWISE_URL: service?.url ?? "", EDGEWISE_TOKEN: "t" } });
const sent = () =>
  (service?.asked ?? []).filter(({ path }) => path !== "/health").map(({ method, path, body }) => [`${method} ${path.replace("/api/v1", "")}`, body]);

describe("edgewise secret", () => {
  it("sends the value and prints none, and finds a secret by its name", async () => {
    const made = await typed("secret", "create", "SEARCH_KEY", "--value", "sk-hidden", "--host", "API.example.com");
    expect(made.code, made.err).toBe(0);
    expect(made.out.join() + made.err).not.toContain("sk-hidden");
    const changed = await typed("secret", "update", "SEARCH_KEY", "--value", "sk-hidden-2");
    expect(changed.code, changed.err).toBe(0);
    const linked = await typed("env", "secret", "link", "gsm8k", "SEARCH_KEY");
    expect([linked.code, linked.out.join()]).toEqual([0, expect.stringContaining("linked to gsm8k")]);
    expect(sent().map(([call]) => call)).toEqual([
      "POST /secrets/",
      "GET /secrets/",
      "PATCH /secrets/0123456789ab",
      "GET /secrets/",
      "POST /environmentshub/gsm8k/secrets/link/0123456789ab",
    ]);
    expect(JSON.stringify(sent()[0]?.[1])).toContain("api.example.com");
  });

  it("refuses a name or a host that is none before anything is asked", async () => {
    expect(await typed("secret", "create", "lower", "--value", "x")).toMatchObject({ code: 2, err: expect.stringContaining("capitals") });
    expect(await typed("secret", "create", "A", "--value", "x", "--host", "https://a/b")).toMatchObject({ code: 2, err: expect.stringContaining("--host") });
    expect(sent()).toEqual([]);
  });

  it("rotates until a pass finds nothing to do, and says what to type next", async () => {
    const said = await typed("secret", "rotate");
    expect([said.code, said.out.join(), said.err]).toEqual([0, expect.stringContaining("3 values"), expect.stringContaining("EDGEWISE_MASTER_KEY_NEXT")]);
    expect(sent()).toHaveLength(3);
  });

  it("writes a master key to a new file for its user alone, and prints it nowhere", async () => {
    const said = await typed("secret", "key", "master.key");
    const text = readFileSync(join(cwd, "master.key"), "utf8");
    expect([said.code, isMasterKey(text), statSync(join(cwd, "master.key")).mode & 0o777]).toEqual([0, true, 0o600]);
    expect(said.out.join() + said.err).not.toContain(text);
    expect(await typed("secret", "key", "master.key")).toMatchObject({ code: 1, err: expect.stringContaining("is there already") });
    expect(readFileSync(join(cwd, "master.key"), "utf8")).toBe(text);
  });
});

describe("the master key of one machine", () => {
  it("is made once, for its user alone, and stays; a change that was broken off goes on with the same new one", async () => {
    const first = masterKeyTexts(cwd);
    expect(masterKeyTexts(cwd)).toEqual(first);
    expect(statSync(join(cwd, "master-key")).mode & 0o777).toBe(0o600);
    beginRotation(cwd);
    const both = masterKeyTexts(cwd);
    beginRotation(cwd);
    expect(masterKeyTexts(cwd)).toEqual(both);
    expect(both.EDGEWISE_MASTER_KEY).toBe(first.EDGEWISE_MASTER_KEY);
    const next = both.EDGEWISE_MASTER_KEY_NEXT ?? "";
    // Of another change: the key there is stays.
    await endRotation(cwd, await masterKeyId(first.EDGEWISE_MASTER_KEY ?? ""));
    expect(masterKeyTexts(cwd)).toEqual(both);
    await endRotation(cwd, await masterKeyId(next));
    expect(masterKeyTexts(cwd)).toEqual({ EDGEWISE_MASTER_KEY: next });
    await endRotation(cwd, await masterKeyId(next));
    expect(masterKeyTexts(cwd)).toEqual({ EDGEWISE_MASTER_KEY: next });
  });

  it("that something has changed is refused by the name of its file, and not written over", () => {
    writeFileSync(join(cwd, "master-key"), "ewk_short");
    chmodSync(join(cwd, "master-key"), 0o600);
    expect(() => masterKeyTexts(cwd)).toThrow(/master-key is not a master key/);
    expect(readFileSync(join(cwd, "master-key"), "utf8")).toBe("ewk_short");
  });
});
