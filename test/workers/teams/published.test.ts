import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { registryStub } from "../../../durable-objects/stubs.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { MAX_README_BYTES } from "../../../src/limits.ts";
import { removePublishedCode } from "../../../src/upkeep/published-code.ts";
import { MODULE, moduleOf, pushForm, type PushWish } from "../../support/door/push-form.ts";
import { closeTeam, type Door, openTeam, OWNER_TOKEN } from "../support/people.ts";
import { service } from "../support/service.ts";

const KEYED = moduleOf({ keys: ["SEARCH_KEY"] });
const OTHER = `${MODULE}// other\n`;

/** Environments that teams publish, at the door of a deployed service, in real objects and a real bucket. */
let door: Door;
let ada: string;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["environments:write"]));
});
afterEach(closeTeam);

const push = async (token: string, at: string, wish: PushWish = {}): Promise<Response> => {
  const { body, type } = await pushForm(wish);
  return door.call(token, "PUT", `/environmentshub/${at}`, body, { "content-type": type });
};
const pushed = async (token: string, at: string, wish: PushWish = {}): Promise<Record<string, unknown>> => {
  const answer = await push(token, at, wish);
  if (!answer.ok) throw new Error(`${at}: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { data: Record<string, unknown> }).data;
};
const look = async <T = Record<string, unknown>>(token: string, at: string) => (await door.json<{ data: T }>(token, "GET", `/environmentshub/${at}`)).data;
const stored = async () => (await service.BUCKET.list({ prefix: "teams/acme/environments/" })).objects.map(({ key }) => key).sort();

it("a pushed version is told, listed and pulled with its code, its map and what it says of itself", async () => {
  const digest = await sha256Hex(KEYED);
  const made = await pushed(ada, "acme/my-sums/@0.1.0", { module: KEYED, sourceMap: '{"version":3}' });
  expect(made).toEqual({
    id: "acme~my-sums",
    name: "my-sums",
    owner: { name: "acme" },
    version: "0.1.0",
    sha256: digest,
    visibility: "PRIVATE",
    latest: true,
    readme: null,
  });
  const latest = { semantic_version: "0.1.0", content_hash: digest, created_at: expect.stringMatching(/^\d{4}-/) };
  expect(await look(ada, "acme/my-sums/@latest")).toMatchObject({
    ...{ id: "acme~my-sums", name: "my-sums", owner: { name: "acme" }, description: "Adds numbers.", visibility: "PRIVATE", latest_version: latest },
    metadata: { keys: ["SEARCH_KEY"], defaults: { num_examples: 3 }, module: { sha256: digest, bytes: KEYED.length }, created_by: "ada" },
  });
  expect(await look(ada, "acme/my-sums/status")).toMatchObject({ name: "my-sums", visibility: "PRIVATE", latest_version: latest });
  expect(await look(ada, "acme/my-sums/versions")).toMatchObject([{ version: "0.1.0", sha256: digest, size: 1, latest: true, created_by: "ada" }]);
  const list = await door.json<{ data: { name: string; latest_version: string }[]; total_count: number }>(ada, "GET", "/environmentshub/?search=my-su");
  expect(list).toMatchObject({ total_count: 1, data: [{ name: "my-sums", owner: { name: "acme" }, latest_version: "0.1.0", bundled: false }] });
  for (const version of ["0.1.0", "latest", digest.slice(0, 8)])
    expect(await (await door.call(ada, "GET", `/environmentshub/acme/my-sums/@${version}/module`)).text()).toBe(KEYED);
  expect(await (await door.call(ada, "GET", "/environmentshub/acme/my-sums/@0.1.0/source-map")).text()).toBe('{"version":3}');
  const at = `teams/acme/environments/my-sums/0.1.0/${digest}`;
  expect(await stored()).toEqual([`${at}/manifest.json`, `${at}/module.js`, `${at}/module.js.map`]);
});

it("a version has one code for ever: the same again changes nothing, other code is refused with both digests", async () => {
  const [one, other] = [await sha256Hex(MODULE), await sha256Hex(OTHER)];
  await pushed(ada, "acme/my-sums/@0.1.0");
  expect(await pushed(ada, "acme/my-sums/@0.1.0", { visibility: "PUBLIC" })).toMatchObject({ sha256: one, visibility: "PUBLIC" });
  const refused = await push(ada, "acme/my-sums/@0.1.0", { module: OTHER });
  const { detail, hint } = (await refused.json()) as { detail: string; hint: string };
  expect([refused.status, detail.includes(one), detail.includes(other), hint]).toEqual([409, true, true, expect.stringContaining("--version")]);
  expect(await stored()).toHaveLength(2);
  await door.json(ada, "DELETE", "/environmentshub/acme/my-sums/@0.1.0");
  expect((await push(ada, "acme/my-sums/@0.1.0", { module: OTHER })).status).toBe(409);
  expect(await pushed(ada, "acme/my-sums/@0.1.0")).toMatchObject({ sha256: one, visibility: "PUBLIC" });
});

it("the latest is the highest release, whatever was pushed last, and moves back when it is deleted", async () => {
  for (const version of ["0.9.0", "0.10.0", "0.9.1", "1.0.0-rc.1"]) await pushed(ada, `acme/my-sums/@${version}`, { module: `${MODULE}// ${version}\n` });
  const versions = async () => (await look<{ version: string }[]>(ada, "acme/my-sums/versions")).map(({ version }) => version);
  expect(await versions()).toEqual(["0.10.0", "1.0.0-rc.1", "0.9.1", "0.9.0"]);
  await door.json(ada, "DELETE", "/environmentshub/acme/my-sums/@0.10.0");
  expect(await look(ada, "acme/my-sums/@latest")).toMatchObject({ version: { semantic_version: "0.9.1" } });
  expect(await door.status(ada, "GET", "/environmentshub/acme/my-sums/@0.10.0")).toBe(404);
  await door.json(ada, "DELETE", "/environmentshub/acme/my-sums");
  expect(await door.status(ada, "GET", "/environmentshub/acme/my-sums/status")).toBe(404);
  expect(await door.status(ada, "DELETE", "/environmentshub/acme/my-sums")).toBe(404);
});

it("has the README that it was pushed with, however often it is pushed again; one of before has none", async () => {
  const readme = "# Sums\n\nAdds *two* numbers: \u00e4.\n";
  const [digest, own] = [await sha256Hex(MODULE), await sha256Hex(readme)];
  expect(await pushed(ada, "acme/my-sums/@0.1.0")).toMatchObject({ readme: null });
  expect(await look(ada, "acme/my-sums/@0.1.0")).toMatchObject({ metadata: { readme: null } });
  expect(await door.status(ada, "GET", "/environmentshub/acme/my-sums/@0.1.0/readme")).toBe(404);
  expect(await pushed(ada, "acme/my-sums/@0.2.0", { readme })).toMatchObject({ readme: own });
  expect(await pushed(ada, "acme/my-sums/@0.2.0", { readme: "Another." })).toMatchObject({ readme: own });
  expect(await look(ada, "acme/my-sums/@latest")).toMatchObject({ metadata: { readme: { sha256: own, bytes: new TextEncoder().encode(readme).byteLength } } });
  const sent = await door.call(ada, "GET", "/environmentshub/acme/my-sums/@latest/readme");
  expect([await sent.text(), sent.headers.get("content-type"), sent.headers.get("x-content-type-options")]).toEqual([
    readme,
    "text/markdown; charset=utf-8",
    "nosniff",
  ]);
  await door.join("bob", ["quokkas"]);
  const bob = await door.token("bob", ["quokkas"], ["admin"]);
  expect(await door.status(bob, "GET", "/environmentshub/acme/my-sums/@0.2.0/readme")).toBe(404);
  // As a version of before stored it.
  const key = `teams/acme/environments/my-sums/0.2.0/${digest}/manifest.json`;
  const { readme: _, ...before } = JSON.parse((await (await service.BUCKET.get(key))?.text()) ?? "null") as Record<string, unknown>;
  await service.BUCKET.put(key, JSON.stringify(before));
  expect(await look(ada, "acme/my-sums/@0.2.0")).toMatchObject({ metadata: { readme: null, module: { sha256: digest } } });
});

it("takes a README of as many bytes as there may be", async () => {
  expect(await pushed(ada, "acme/my-sums/@0.1.0", { readme: "x".repeat(MAX_README_BYTES) })).toMatchObject({ readme: expect.stringMatching(/^[0-9a-f]{64}$/) });
});

const REFUSED: readonly (readonly [at: string, wish: PushWish, status: number, says: string])[] = [
  ["acme/my-sums/@1.0", {}, 422, "path.version"],
  ["acme/my-sums/@1.0.0+build", {}, 422, "path.version"],
  ["acme/My-Sums/@1.0.0", {}, 422, "path.name"],
  ["acme/secrets/@1.0.0", {}, 422, "path.name"],
  ["acme/gsm8k/@1.0.0", {}, 422, "bundled"],
  ["quokkas/my-sums/@1.0.0", {}, 404, "Team"],
  ["nobody/my-sums/@1.0.0", {}, 404, "Team"],
  ["acme/my-sums/@1.0.0", { sha256: "0".repeat(64) }, 422, "sha256"],
  ["acme/my-sums/@1.0.0", { visibility: "SECRET" }, 422, "visibility"],
  ["acme/my-sums/@1.0.0", { module: moduleOf({ id: "your-sums" }) }, 422, "your-sums"],
  ["acme/my-sums/@1.0.0", { module: moduleOf({ keys: ["no key"] }) }, 422, "no key"],
  ["acme/my-sums/@1.0.0", { module: "export default 1;\n" }, 422, "defineEnvironment"],
  ["acme/my-sums/@1.0.0", { module: "export default (;\n" }, 422, "environment_failed"],
  ["acme/my-sums/@1.0.0", { module: 'import "./lib/nothing.js";\n' }, 422, "environment_failed"],
  ["acme/my-sums/@1.0.0", { module: "" }, 422, "module"],
  ["acme/my-sums/@1.0.0", { readme: "x".repeat(MAX_README_BYTES + 1) }, 413, "128 KiB"],
  ["acme/my-sums/@1.0.0", { readme: new Uint8Array([0xff, 0xfe]) }, 422, "UTF-8"],
  ["acme/my-sums/@1.0.0", { module: "x".repeat(9 * 1024 * 1024) }, 413, "8 MiB"],
];

describe("a push is refused", () => {
  it("where anything is wrong with it, by what is, and nothing of it is stored", async () => {
    await door.join("bob", ["quokkas"]);
    for (const [at, wish, status, says] of REFUSED) {
      const answer = await push(ada, at, wish);
      const text = await answer.text();
      expect([answer.status, text.replaceAll('","', ".").includes(says)], `${at}: ${text}`).toEqual([status, true]);
    }
    expect(await stored()).toEqual([]);
  });

  it("for a body of another kind, and one that is cut off", async () => {
    const { body, type } = await pushForm();
    const put = (sent: Uint8Array, headers: Record<string, string>) => door.status(ada, "PUT", "/environmentshub/acme/my-sums/@1.0.0", sent, headers);
    expect(await put(body, {})).toBe(415);
    expect(await put(body.subarray(0, body.length / 2), { "content-type": type })).toBe(422);
    expect(await put(new Uint8Array(), { "content-type": type })).toBe(422);
  });

  it("for a token that may only make runs", async () => {
    const runs = await door.token("ada", ["acme"], ["runs:write"]);
    expect((await push(runs, "acme/my-sums/@1.0.0")).status).toBe(403);
    await pushed(ada, "acme/my-sums/@1.0.0");
    expect(await door.status(runs, "PATCH", "/environmentshub/acme/my-sums", { visibility: "PUBLIC" })).toBe(403);
    expect(await door.status(runs, "GET", "/environmentshub/acme/my-sums/@1.0.0/module")).toBe(200);
  });
});

it("is seen by its team until it is public, and then by everybody; only its team changes it", async () => {
  await door.join("bob", ["quokkas"]);
  const bob = await door.token("bob", ["quokkas"], ["admin"]);
  await pushed(ada, "acme/my-sums/@1.0.0");
  const names = async (token: string, query = "") =>
    (await door.json<{ data: { name: string; bundled: boolean }[] }>(token, "GET", `/environmentshub/${query}`)).data
      .filter(({ bundled }) => !bundled)
      .map(({ name }) => name);
  const paths = ["@latest", "@1.0.0/module", "status", "versions"];
  const asked = async () => Promise.all(paths.map((path) => door.status(bob, "GET", `/environmentshub/acme/my-sums/${path}`)));
  expect([await names(ada), await names(OWNER_TOKEN), await names(bob), await asked()]).toEqual([["my-sums"], ["my-sums"], [], [404, 404, 404, 404]]);
  await door.json(ada, "PATCH", "/environmentshub/acme/my-sums", { visibility: "PUBLIC" });
  expect([await names(bob), await names(bob, "?mine_only=true"), await names(ada, "?mine_only=true"), await asked()]).toEqual([
    ["my-sums"],
    [],
    ["my-sums"],
    [200, 200, 200, 200],
  ]);
  expect(await door.status(bob, "PATCH", "/environmentshub/acme/my-sums", { visibility: "PRIVATE" })).toBe(404);
  for (const path of ["acme/my-sums", "acme/my-sums/@1.0.0"]) expect(await door.status(bob, "DELETE", `/environmentshub/${path}`)).toBe(404);
  expect((await push(bob, "acme/my-sums/@1.0.0")).status).toBe(404);
});

it("the default team publishes under the owner of the bundled environments, whose names are taken", async () => {
  expect(await pushed(OWNER_TOKEN, "edgewise/my-sums/@1.0.0")).toMatchObject({ id: "edgewise~my-sums", owner: { name: "edgewise" } });
  expect((await service.BUCKET.list({ prefix: "environments/" })).objects).toHaveLength(2);
  expect(await look(OWNER_TOKEN, "edgewise/my-sums/@latest")).toMatchObject({ owner: { name: "edgewise" } });
  expect(await look(OWNER_TOKEN, "edgewise/gsm8k/versions")).toMatchObject([{ latest: true, created_at: null }]);
  expect((await push(OWNER_TOKEN, "edgewise/gsm8k/@9.0.0")).status).toBe(422);
});

it("the code of a deleted version stays for a while, and is then removed; the version is pushed again with the same code only", async () => {
  await pushed(ada, "acme/my-sums/@1.0.0");
  await pushed(ada, "acme/my-sums/@1.1.0", { module: OTHER });
  await door.json(ada, "DELETE", "/environmentshub/acme/my-sums/@1.0.0");
  await removePublishedCode(service);
  expect(await stored()).toHaveLength(4);
  await removePublishedCode(service, -1);
  expect((await stored()).every((key) => key.includes("/1.1.0/"))).toBe(true);
  expect((await push(ada, "acme/my-sums/@1.0.0", { module: OTHER })).status).toBe(409);
  await pushed(ada, "acme/my-sums/@1.0.0");
  await removePublishedCode(service, -1);
  expect(await stored()).toHaveLength(4);
});

it("what a push left that broke off is removed as deleted code is, unless the same push came again", async () => {
  const registry = registryStub(service, "acme");
  const digest = await sha256Hex(OTHER);
  const version = { version: "1.0.0", digest, bytes: 1, description: "", created_at: 1, created_by: "ada" };
  const key = (of: string) => `teams/acme/environments/my-sums/1.0.0/${of}/module.js`;
  const broken = async () => {
    expect(await registry.beginPush({ name: "my-sums", version, visibility: null })).toMatchObject({ ok: true });
    await service.BUCKET.put(key(digest), OTHER);
  };
  await broken();
  const before = await registry.codeToRemove(1, 10);
  const now = await registry.codeToRemove(2, 10);
  expect([before, now]).toEqual([[], [{ name: "my-sums", version: "1.0.0", digest }]]);
  const leaving = await push(ada, "acme/my-sums/@1.0.0", { module: OTHER });
  expect([leaving.status, await leaving.text()]).toEqual([503, expect.stringContaining("Push it again in a minute")]);
  await removePublishedCode(service, -1);
  expect([await stored(), await registry.codeToRemove(Date.now(), 10)]).toEqual([[], []]);

  await broken();
  await pushed(ada, "acme/my-sums/@1.0.0", { module: OTHER });
  await broken();
  await removePublishedCode(service, -1);
  expect(await stored()).toHaveLength(2);
  await door.json(ada, "DELETE", "/environmentshub/acme/my-sums/@1.0.0");
  await removePublishedCode(service, -1);
  expect([await stored(), await registry.codeToRemove(Date.now(), 10)]).toEqual([[], []]);
});

it("lists hold the latest version of each alone, with the beginning of what it says of itself, however much was pushed", async () => {
  for (const version of ["1.0.0", "1.1.0"]) await pushed(ada, `acme/my-sums/@${version}`, { module: moduleOf({ description: version.padEnd(100_000, ".") }) });
  const [listed, another] = await registryStub(service, "acme").listPublished();
  expect([another, listed?.versions.map(({ version, description }) => [version, description.length])]).toEqual([undefined, [["1.1.0", 1_000]]]);
  expect(await look<{ description: string }>(ada, "acme/my-sums/@latest")).toMatchObject({ description: "1.1.0".padEnd(100_000, ".") });
});

it("the audit has who pushed, changed and deleted what", async () => {
  const admin = await door.token("ada", ["acme"], ["admin"]);
  await pushed(ada, "acme/my-sums/@1.0.0");
  await door.json(ada, "PATCH", "/environmentshub/acme/my-sums", { visibility: "PUBLIC" });
  await door.json(ada, "DELETE", "/environmentshub/acme/my-sums/@1.0.0");
  const { data } = await door.json<{ data: { action: string; target: string | null; user: string }[] }>(admin, "GET", "/audit");
  expect(data.filter(({ action }) => action.startsWith("environment."))).toMatchObject([
    { action: "environment.push", target: "acme/my-sums/@1.0.0", user: "ada", status: 200 },
    { action: "environment.change", target: "acme/my-sums" },
    { action: "environment.delete", target: "acme/my-sums/@1.0.0" },
  ]);
});
