import { afterEach, beforeEach, expect, it } from "vitest";
import { type ScriptedServer, scriptedServer } from "../../support/links/scripted-server.ts";
import { Fleet } from "../support/fleet.ts";
import { closeTeam, CREATION, type Door, openTeam } from "../support/people.ts";
import type { ResultRow } from "../support/runs.ts";
import { run, service, setVars, until } from "../support/service.ts";

/** Runs of an environment whose code is elsewhere, in a deployed service: real objects, real executors; its server and the model answer in the place of the network. */
const TOKEN = "tok-9f31c7a2b5d84e60";
const LINK = { urls: ["https://env.example/base"], token: TOKEN };
const OTHER_CODE = "c".repeat(64);
const RUN = {
  ...CREATION,
  environment_ids: ["turn-round"],
  eval_config: { ...CREATION.eval_config, num_examples: 3, rollouts_per_example: 2, max_concurrent: 2 },
};
let door: Door;
let ada: string;
let server: ScriptedServer;
let fleet: Fleet | undefined;
/** What the model is told to wait for. */
let held: Promise<void>;
let modelCalls: number;
let first: string | undefined;

/** It turns round what it is asked to. */
const model = async (init: RequestInit): Promise<Response> => {
  modelCalls++;
  const [, asked = ""] = /<text>(.*?)<\/text>/.exec(String(init.body)) ?? [];
  // The example that comes first is answered in any case.
  first ??= asked;
  if (asked !== first) await held;
  const message = { role: "assistant", content: [...asked].reverse().join("") };
  return Response.json({ id: "x", object: "chat.completion", model: "scripted", choices: [{ index: 0, message, finish_reason: "stop" }] });
};
const network = (url: string, init: RequestInit = {}): Promise<Response> =>
  url.startsWith("https://env.example/") ? server.handle(new Request(url, init)) : model(init);

beforeEach(async () => {
  ({ door, ada } = await openTeam(["environments:write", "runs:write"]));
  server = scriptedServer({ token: TOKEN });
  held = Promise.resolve();
  modelCalls = 0;
  first = undefined;
  Object.assign(service, { NETWORK: { fetch: network } });
});
afterEach(async () => {
  await fleet?.close();
  fleet = undefined;
  server.cut();
  Object.assign(service, { NETWORK: undefined });
  await closeTeam();
});

const link = (body: object = LINK) => door.json(ada, "PUT", "/environments/linked/turn-round", body);
const create = async (): Promise<string> => (await door.json<{ evaluation_id: string }>(ada, "POST", "/hosted-evaluations", RUN)).evaluation_id;
const view = (id: string) => run(`acme/${id}`).view();
const events = async (id: string): Promise<string> => JSON.stringify(await run(`acme/${id}`).events(0, 1_000));
function begin(): void {
  fleet ??= new Fleet({ model: { fetch: network }, executors: 1, haste: 10 });
  fleet.start();
}
async function rowsOf(id: string): Promise<readonly ResultRow[]> {
  await fleet?.settled(`acme/${id}`, 30_000);
  const { objects } = await service.BUCKET.list({ prefix: "teams/acme/outputs/" });
  const key = objects.map((each) => each.key).find((each) => each.endsWith(`${id}/results.jsonl`)) ?? "";
  const lines = (await (await service.BUCKET.get(key))?.text()) ?? "";
  return lines.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as ResultRow]));
}
/** Everything that the team has in the bucket, as text. */
async function stored(): Promise<string> {
  const { objects } = await service.BUCKET.list({ prefix: "teams/acme/" });
  return (await Promise.all(objects.map(async ({ key }) => `${key}: ${await (await service.BUCKET.get(key))?.text()}`))).join("\n");
}

it("a run is played where it is linked: the server asks for the model's answers and gives rows, and sees no key and no token of ours", async () => {
  await link();
  const id = await create();
  expect((await view(id))?.config).toMatchObject({ env_id: "turn-round", env_version: "1.0.0", linked: { name: "turn-round", digest: "f".repeat(64) } });
  begin();
  const rows = await rowsOf(id);
  expect(rows.map(({ example_id, reward, error }) => [example_id, reward, error ?? null])).toEqual([0, 0, 1, 1, 2, 2].map((example) => [example, 1, null]));
  expect(modelCalls).toBe(6);
  expect(JSON.stringify(server.heard)).not.toMatch(/sk-secret|tok-9f31/);
  // Whatever the server says of its token itself.
  const written = (await stored()) + (await events(id));
  for (const text of ["opened for [secret]", "played for [secret]"]) expect(written).toContain(text);
  expect(written).not.toContain(TOKEN);
  expect(await door.status(ada, "GET", `/evaluations/${id}`)).toBe(200);
}, 60_000);

it("a run whose link is gone waits for it and says how to bring it back; with the link it goes on", async () => {
  await link({ ...LINK, command: "eval-1", lease_seconds: 60 });
  const id = await create();
  await door.json(ada, "DELETE", "/environments/linked/turn-round?command=eval-1");
  begin();
  await until("the run to say that it waits", async () => (await events(id)).includes("Nothing is linked as turn-round"));
  expect((await view(id))?.status).not.toBe("FAILED");
  expect(modelCalls).toBe(0);
  // It is shown in any case.
  expect(await door.status(ada, "GET", `/evaluations/${id}`)).toBe(200);
  await link({ ...LINK, command: "eval-2", lease_seconds: 600 });
  expect(await rowsOf(id)).toHaveLength(6);
}, 60_000);

it("a server that has other code than was linked plays nothing; linked again, its code is that of new runs, and a run with rows of the other waits", async () => {
  await link();
  const id = await create();
  server.script.source = OTHER_CODE;
  begin();
  await until("the run to say what it waits for", async () => (await events(id)).includes("has other code than was linked"));
  expect(modelCalls).toBe(0);
  expect(server.opened).toEqual([]);
  // Nothing was played with either: the run is of the new code from its beginning.
  await link();
  expect(await rowsOf(id)).toHaveLength(6);
  expect((await view(id))?.config.linked?.digest).toBe("f".repeat(64));
}, 60_000);

it("a run is gone on with after its server was exchanged and linked again only where that is accepted, and then its rows say which code made them", async () => {
  setVars({ CODE_WAIT_MS: "300" });
  await link();
  let release = (): void => undefined;
  held = new Promise((resolve) => {
    release = resolve;
  });
  const id = await create();
  begin();
  await until("the first rows", async () => ((await view(id))?.totals.rollouts ?? 0) > 0);
  await door.json(ada, "POST", `/evaluations/${id}/interrupt`, {});
  await until("its executor to leave", async () => (await view(id))?.executors === 0);
  release();
  server.script.source = OTHER_CODE;
  await link();
  const resume = (body: object) => door.call(ada, "POST", `/evaluations/${id}/resume`, { expect: {}, ...body });
  const refused = await resume({});
  expect([refused.status, await refused.json()]).toEqual([
    409,
    expect.objectContaining({ code: "resume_mismatch", detail: expect.stringContaining("env_digest") }),
  ]);
  expect((await resume({ accept_code_change: true })).status).toBe(200);
  const rows = await rowsOf(id);
  const marked = rows.map((row) => (row as { readonly env_digest?: string }).env_digest);
  expect([rows.length, marked.filter((digest) => digest === undefined).length, new Set(marked).size]).toEqual([6, 2, 2]);
}, 60_000);
