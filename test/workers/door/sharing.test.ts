import { abortAllDurableObjects, reset } from "cloudflare:test";
import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { Fleet } from "../support/fleet.ts";
import { created, Door, deploy, undeploy } from "../support/people.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, setVars, silenceQueue, STEADY, until } from "../support/service.ts";

/** Runs that are read by a link and by nothing else, at the door of a deployed service. */
interface Link {
  readonly is_public: boolean;
  readonly link: string;
}
let door: Door;
let ada: string;
let fleet: Fleet;

beforeEach(async () => {
  setVars(STEADY);
  deploy();
  door = new Door();
  await door.join("ada", ["acme"]);
  await door.join("bob", ["quokkas"]);
  ada = await door.token("ada", ["acme"], ["runs:write"]);
  fleet = new Fleet({ model: new ScriptedModel({ latencyMs: 1 }) });
});
afterEach(async () => {
  vi.restoreAllMocks();
  await fleet.close();
  undeploy();
  await reset();
});

const share = async (id: string): Promise<string> => {
  const { link, is_public } = await door.json<Link>(ada, "PUT", `/evaluations/${id}/link`, {});
  expect(is_public).toBe(true);
  // Another host than the service's own would not be `//…`.
  return link.replace("https://edgewise.example", "/");
};
async function finished(): Promise<string> {
  const id = await created(door, ada);
  await fleet.settled(`acme/${id}`);
  return id;
}
const looked = async (path: string, method = "GET") => {
  const response = await door.call(null, method, path);
  return { status: response.status, text: await response.text(), headers: response.headers };
};

it("is read by whoever has the link: page, samples and files, and nothing else", async () => {
  const id = await finished();
  const link = await share(id);
  expect(link).toMatch(new RegExp(`^//shared/acme/[\\w-]{43}/${id}$`));
  const page = await looked(link);
  expect([page.status, page.headers.get("cache-control"), page.headers.get("x-robots-tag")]).toEqual([200, "no-store", "noindex"]);
  for (const shown of [`${link.slice(1)}/files/results.jsonl`, `${link.slice(1)}/samples`, "COMPLETED"]) expect(page.text).toContain(shown);
  expect(page.text).not.toContain("/dashboard/");
  const { samples } = JSON.parse((await looked(`${link}/samples?limit=2`)).text) as { samples: unknown[] };
  expect(samples).toHaveLength(2);
  for (const file of ["results.jsonl", "metadata.json", "eval.log"]) {
    const { status, headers } = await looked(`${link}/files/${file}`);
    expect([file, status, headers.get("cache-control")]).toEqual([file, 200, "no-store"]);
  }
  expect(await door.json(ada, "GET", `/evaluations/${id}`)).toMatchObject({ is_public: true });
  await until("the list to have heard of it", async () => {
    const { evaluations } = await door.json<{ evaluations: { is_public: boolean }[] }>(ada, "GET", "/evaluations/");
    return evaluations[0]?.is_public === true;
  });

  // It opens nothing else, and changes nothing.
  const secret = link.split("/")[4] ?? "";
  for (const path of [`${link}/rows`, `${link}/events`, `${link}/link`, `${link}/resume`, `${link}/files/config.json`, "//shared", "//shared/acme"])
    expect([path, (await looked(path)).status]).toEqual([path, 404]);
  for (const method of ["POST", "PUT", "PATCH", "DELETE"]) expect([method, (await looked(link, method)).status]).toEqual([method, 404]);
  expect((await door.call(secret, "GET", `/evaluations/${id}`)).status).toBe(401);
  expect((await door.call(null, "GET", `/evaluations/${id}`)).status).toBe(401);
});

it("is not told from what is not there, but by the whole link", async () => {
  const [id, other] = [await finished(), await finished()];
  const [, , , team = "", secret = ""] = (await share(id)).split("/");
  const nothing = await looked(`//shared/wombats/${"A".repeat(43)}/00000000`);
  expect([nothing.status, nothing.text]).toEqual([404, expect.stringContaining("leads nowhere")]);
  for (const path of [
    `//shared/${team}/${secret}/${other}`,
    `//shared/${team}/${"A".repeat(43)}/${id}`,
    `//shared/quokkas/${secret}/${id}`,
    `//shared/${team}/${secret}/${id}0`,
    `//shared/${team}/${secret.slice(1)}/${id}`,
    `//shared/${team}/${"A".repeat(43)}/${id}/samples`,
    `//shared/${team}/${"A".repeat(43)}/${other}/files/eval.log`,
  ])
    expect([path, (await looked(path)).text]).toEqual([path, nothing.text]);
  const bob = await door.token("bob", ["quokkas"], ["admin"]);
  for (const method of ["PUT", "DELETE"]) expect((await door.call(bob, method, `/evaluations/${id}/link`, method === "PUT" ? {} : undefined)).status).toBe(404);
  const reader = await door.token("ada", ["acme"], ["runs:read"]);
  expect((await door.call(reader, "PUT", `/evaluations/${id}/link`, {})).status).toBe(403);
});

it("ends with the next link, when it is taken back, and with the run", async () => {
  const id = await finished();
  const first = await share(id);
  const second = await share(id);
  expect([(await looked(first)).status, (await looked(second)).status]).toEqual([404, 200]);
  expect(await door.json(ada, "DELETE", `/evaluations/${id}/link`)).toEqual({ is_public: false, link: null });
  expect((await looked(second)).status).toBe(404);
  expect(await door.json(ada, "GET", `/evaluations/${id}`)).toMatchObject({ is_public: false });
  const third = await share(id);
  await door.json(ada, "DELETE", `/evaluations/${id}`);
  expect((await looked(third)).status).toBe(404);
});

it("survives a kill during each change: what was answered holds", async () => {
  vi.spyOn(console, "error").mockImplementation(() => undefined);
  silenceQueue();
  const id = await created(door, ada);
  for (let round = 0; round < 4; round++) {
    const link = await share(id);
    await abortAllDurableObjects();
    expect((await looked(link)).status).toBe(200);
    const cut = door.call(ada, "DELETE", `/evaluations/${id}/link`).catch(() => null);
    await abortAllDurableObjects();
    await cut;
    const { is_public } = await door.json<Link>(ada, "GET", `/evaluations/${id}`);
    expect((await looked(link)).status).toBe(is_public ? 200 : 404);
    await door.json(ada, "DELETE", `/evaluations/${id}/link`);
    expect((await run(`acme/${id}`).view())?.link_digest).toBeUndefined();
  }
});
