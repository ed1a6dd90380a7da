import { describe, expect, it } from "vitest";
import * as hub from "../../../src/api/published/published-schemas.ts";
import * as schemas from "../../../src/api/links/link-schemas.ts";
import { ENVIRONMENTS, SERVERS } from "../../support/door/fake-environments.ts";
import { type Door, openDoor } from "../../support/door/fake-ports.ts";

const [ONE, SAME, OTHER] = Object.keys(SERVERS) as [string, string, string];
const TOKEN = "the token of the server";

const put = (door: Door, name: string, body: object) => door.call("PUT", `/environments/linked/${name}`, { urls: [ONE], token: TOKEN, ...body });
const told = async (response: Response) => ({ status: response.status, ...((await response.json()) as { detail: unknown; code?: string; hint?: string }) });
const lease = { command: "eval-1", lease_seconds: 30 };

async function created(door: Door, reference: string) {
  const answer = await door.call("POST", "/hosted-evaluations", { environment_ids: [reference], inference_model: "m" });
  const { evaluation_id } = (await answer.json()) as { evaluation_id: string };
  return { status: answer.status, config: door.runs.get(evaluation_id)?.creations[0]?.config };
}

describe("a link", () => {
  it("is made of what its server says, shown with its arguments, and gone when it is unlinked; its token is in no answer", async () => {
    const door = openDoor();
    const texts: string[] = [];
    const asked = async (method: string, path: string, body?: { [key: string]: string | string[] }) => {
      const response = await door.call(method, path, body);
      texts.push(await response.text());
      return { status: response.status, body: JSON.parse(texts.at(-1) ?? "") as object };
    };
    const made = await asked("PUT", "/environments/linked/wiki-search", { urls: [`${ONE}/`, SAME], token: TOKEN });
    expect(schemas.linkAnswer.parse(made.body).data).toMatchObject({
      ...{ name: "wiki-search", urls: [ONE, SAME], environment: "wiki-search", version: "1.0.0", digest: "a".repeat(64), linked_by: "edgewise" },
      ...{ args: [{ name: "depth", default: 2 }], command: null, lease_until: null },
    });
    const list = await asked("GET", "/environments/linked");
    expect(schemas.linkList.parse(list.body).data).toMatchObject([{ name: "wiki-search" }]);
    const status = await asked("GET", "/environments/linked/wiki-search");
    expect(schemas.linkStatus.parse(status.body).data.servers).toMatchObject([
      { url: ONE, state: "healthy", protocol: 1, version: "1.0.0" },
      { url: SAME, state: "healthy" },
    ]);
    expect(await asked("DELETE", "/environments/linked/wiki-search")).toMatchObject({ status: 200 });
    expect(await asked("DELETE", "/environments/linked/wiki-search")).toMatchObject({ status: 404 });
    expect(await asked("GET", "/environments/linked/wiki-search")).toMatchObject({ status: 404 });
    expect(texts.join("")).not.toContain(TOKEN);
    expect(JSON.stringify(door.registry.audited)).toMatch(/link\.put.*link\.delete/);
    expect(JSON.stringify(door.registry.audited)).not.toContain(TOKEN);
  });

  it("is looked up as other environments are, by its name and version, where the service has none of its own that is called so", async () => {
    const door = openDoor();
    for (const name of ["wiki-search", "primeintellect~wordle", "gsm8k"]) await put(door, name, {});
    const of = async (path: string) => {
      const response = await door.call("GET", `/environmentshub/${path}`);
      return response.status === 200 ? hub.environment.parse(await response.json()) : response.status;
    };
    expect(await of("edgewise/wiki-search/@latest")).toMatchObject({
      ...{ id: "wiki-search", owner: { name: "edgewise" }, visibility: "PRIVATE", version: { semantic_version: "1.0.0", content_hash: "a".repeat(64) } },
      metadata: { args: [{ name: "depth", default: 2 }], defaults: { num_examples: 7 }, keys: [], hosts: [] },
    });
    expect(await of("primeintellect/wordle/@1.0.0")).toMatchObject({ id: "primeintellect~wordle", name: "primeintellect/wordle" });
    expect(await of("edgewise/gsm8k/@latest")).toMatchObject({ metadata: { args: [{ name: "difficulty" }] } });
    expect([await of("edgewise/wiki-search/@9.0.0"), await of("acme/wiki-search/@latest")]).toEqual([404, 404]);
  });

  it("is not made to a server that does not answer, nor to several that have different code", async () => {
    const door = openDoor();
    expect(await told(await put(door, "wiki", { urls: ["http://127.0.0.1:9"] }))).toMatchObject({
      ...{ status: 422, code: "environment_failed", detail: "http://127.0.0.1:9: cannot be reached", hint: expect.stringContaining("edgewise_env") },
    });
    expect(await told(await put(door, "wiki", { urls: [ONE, OTHER] }))).toMatchObject({
      ...{ status: 422, code: "environment_failed", detail: expect.stringContaining(OTHER) },
    });
    expect(door.registry.linked.size).toBe(0);
  });

  it.each([
    [{ urls: [] }, "body.urls"],
    [{ urls: ["nowhere"] }, "body.urls.0"],
    [{ urls: Array.from({ length: 33 }, () => ONE) }, "body.urls"],
    [{ token: " " }, "body.token"],
    [{ lease_seconds: 30 }, "body.command"],
    [{ command: "c" }, "body.command"],
    [{ command: "a b", lease_seconds: 30 }, "body.command"],
    [{ command: "c", lease_seconds: 601 }, "body.lease_seconds"],
    [{ command: "c", lease_seconds: 0 }, "body.lease_seconds"],
    [{ colour: "red" }, "body.colour"],
  ])("of %j is refused, naming the field", async (body, place) => {
    const { status, detail } = await told(await put(openDoor(), "wiki", body));
    expect([status, (detail as { loc: string[] }[]).map(({ loc }) => loc.join("."))]).toEqual([422, [place]]);
  });

  it("may be called as an environment is, and not as a bundled one with its owner", async () => {
    expect((await put(openDoor(), "primeintellect~wordle", {})).status).toBe(200);
    for (const name of ["edgewise~gsm8k", "a~b~c", ".x"])
      expect((await told(await put(openDoor(), name, {}))).detail).toMatchObject([{ loc: ["path", "link"] }]);
  });

  it("leads, deployed, to public https addresses alone", async () => {
    const door = openDoor({ local: false, token: "t" });
    const deployed = (urls: string[]) => door.call("PUT", "/environments/linked/wiki", { urls, token: TOKEN }, { authorization: "Bearer t" });
    for (const url of [ONE, "https://10.0.0.7", "http://env.example"])
      expect((await told(await deployed([url]))).detail).toMatchObject([{ loc: ["body", "urls", 0] }]);
    expect((await deployed(["https://env.example/base"])).status).toBe(200);
  });
});

describe("the link of a command", () => {
  it("lives for as long as it is renewed, beside the one that lasts and beside those of other commands", async () => {
    const door = openDoor();
    await put(door, "wiki", { urls: [OTHER] });
    expect((await told(await put(door, "wiki", lease))).status).toBe(200);
    await put(door, "wiki", { ...lease, command: "eval-2" });
    const renewed = await door.call("POST", "/environments/linked/wiki/lease", lease);
    expect(schemas.leaseAnswer.parse(await renewed.json()).data.lease_until > new Date().toISOString()).toBe(true);
    expect((await told(await door.call("POST", "/environments/linked/wiki/lease", { ...lease, command: "eval-3" }))).status).toBe(404);
    expect((await door.call("DELETE", "/environments/linked/wiki?command=eval-1")).status).toBe(200);
    expect((await told(await door.call("POST", "/environments/linked/wiki/lease", lease))).hint).toContain("Link it again");
    expect([...door.registry.linked.values()].map(({ command }) => command)).toEqual([null, "eval-2"]);
    // Renewals are no news for the audit.
    expect(door.registry.audited.map(({ action }) => action)).toEqual(["link.put", "link.put", "link.put", "link.delete"]);
  });
});

describe("a run", () => {
  it("is pinned to the link of the name that it asks for, which goes before an environment of the service", async () => {
    const door = openDoor();
    expect((await created(door, "gsm8k")).config).not.toHaveProperty("linked");
    await put(door, "gsm8k", {});
    for (const name of ["gsm8k", "gsm8k@1.0.0"])
      expect((await created(door, name)).config).toMatchObject({ env_id: "gsm8k", env_version: "1.0.0", linked: { name: "gsm8k", digest: "a".repeat(64) } });
    // With its owner the bundled one is meant, and with its version too.
    for (const name of ["edgewise/gsm8k", "gsm8k@0.1.0"]) expect((await created(door, name)).config).not.toHaveProperty("linked");
    expect((await created(door, "gsm8k")).config).not.toHaveProperty("wall");
    await door.call("DELETE", "/environments/linked/gsm8k");
    expect((await created(door, "gsm8k")).config).not.toHaveProperty("linked");
  });

  it("is of files of one's own that the service was started with, where a link that lasts is called like them, and not where a command has just made one", async () => {
    const door = openDoor(
      {},
      undefined,
      undefined,
      ENVIRONMENTS.map((each) => ({ ...each, isIsolated: true as const })),
    );
    await put(door, "gsm8k", {});
    expect((await created(door, "gsm8k")).config).not.toHaveProperty("linked");
    await put(door, "gsm8k", lease);
    expect((await created(door, "gsm8k")).config).toMatchObject({ linked: { name: "gsm8k" } });
  });
});
