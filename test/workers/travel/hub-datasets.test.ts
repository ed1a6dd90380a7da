import { abortAllDurableObjects, createScheduledController } from "cloudflare:test";
import { afterEach, beforeEach, expect, it } from "vitest";
import { datasetKey } from "../../../r2-layout/keys.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import { UPLOAD_GRACE_MS } from "../../../src/limits.ts";
import worker from "../../../src/worker.ts";
import { CREATION, type Door, OWNER_TOKEN, closeTeam, openTeam } from "../support/people.ts";
import { run, service, skip } from "../support/service.ts";

/** Data sets that a team has by name, at the door of a deployed service. */
interface Named {
  readonly name: string;
  readonly revisions: readonly {
    readonly revision: string;
    readonly files: readonly { readonly path: string; readonly dataset: string; readonly bytes: number }[];
  }[];
}
let door: Door;
let ada: string;
let bob: string;

beforeEach(async () => {
  ({ door, ada } = await openTeam(["runs:write"]));
  await door.join("bob", ["quokkas"]);
  bob = await door.token("bob", ["quokkas"], ["runs:write"]);
});
afterEach(closeTeam);

/** Digest of an upload of Ada's. */
async function upload(text: string): Promise<string> {
  const digest = await sha256Hex(text);
  await door.json(ada, "PUT", `/datasets/${digest}`, new TextEncoder().encode(text));
  return digest;
}
const put = async (name: string, files: Readonly<Record<string, string>>): Promise<Named> =>
  (
    await door.json<{ data: Named }>(ada, "PUT", `/named-datasets/${name}`, {
      files: Object.entries(files).map(([path, digest]) => ({ path, dataset: `sha256:${digest}` })),
    })
  ).data;
const read = (token: string, path: string) => door.call(token, "GET", `//${path}`);
const textOf = async (token: string, path: string): Promise<string> => (await read(token, path)).text();

it("is read as a repository, at main and at each revision that is kept, after the objects were killed too", async () => {
  const [first, second] = [await upload('{"text":"one"}\n'), await upload('{"text":"two"}\n')];
  const before = await put("words", { "train.jsonl": first });
  expect((await put("words", { "train.jsonl": first })).revisions).toHaveLength(1);
  const after = await put("words", { "train.jsonl": second, "more/test.jsonl": first });
  expect(after.revisions).toHaveLength(2);
  await abortAllDurableObjects();
  expect(await textOf(ada, "datasets/edgewise/words/resolve/main/train.jsonl")).toBe('{"text":"two"}\n');
  expect(await textOf(ada, `datasets/acme/words/resolve/${before.revisions[0]?.revision}/train.jsonl`)).toBe('{"text":"one"}\n');
  expect(await (await read(ada, "api/datasets/edgewise/words")).json()).toMatchObject({
    id: "edgewise/words",
    sha: after.revisions[0]?.revision,
    private: true,
    siblings: [{ rfilename: "more/test.jsonl", lfs: { sha256: first } }, { rfilename: "train.jsonl" }],
  });
  expect(await (await read(ada, "api/datasets/edgewise/words/tree/main?recursive=false")).json()).toMatchObject([{ path: "more" }, { path: "train.jsonl" }]);
  expect((await door.json<{ data: readonly Named[] }>(ada, "GET", "/named-datasets")).data.map(({ name, revisions }) => [name, revisions.length])).toEqual([
    ["words", 1],
  ]);
  for (const [path, code] of [
    ["datasets/edgewise/words/resolve/main/dev.jsonl", "EntryNotFound"],
    [`api/datasets/edgewise/words/revision/${"0".repeat(40)}`, "RevisionNotFound"],
    ["api/datasets/edgewise/other", "RepoNotFound"],
  ] as const) {
    const answer = await read(ada, path);
    expect([answer.status, answer.headers.get("x-error-code")], path).toEqual([404, code]);
    await answer.arrayBuffer();
  }
});

it("is the team's alone, and to be changed by who may change its runs", async () => {
  await put("words", { "train.jsonl": await upload("{}\n") });
  for (const path of ["api/datasets/edgewise/words", "api/datasets/acme/words", "datasets/acme/words/resolve/main/train.jsonl"])
    expect(await door.status(bob, "GET", `//${path}`), path).toBe(404);
  expect(await door.status(bob, "DELETE", "/named-datasets/words")).toBe(404);
  const reader = await door.token("ada", ["acme"], ["runs:read"]);
  expect(await door.status(reader, "GET", "//api/datasets/edgewise/words")).toBe(200);
  expect(await door.status(reader, "DELETE", "/named-datasets/words")).toBe(403);
  const digest = await sha256Hex("{}\n");
  const body = (path: string, dataset = `sha256:${digest}`) => ({ files: [{ path, dataset }] });
  expect(await door.status(ada, "PUT", "/named-datasets/0000abcd", body("a.jsonl"))).toBe(422);
  for (const path of ["../a.jsonl", "/a.jsonl", ".hidden", "a//b"]) expect(await door.status(ada, "PUT", "/named-datasets/x", body(path)), path).toBe(422);
  expect(await door.status(ada, "PUT", "/named-datasets/x", body("a.jsonl", `sha256:${"0".repeat(64)}`))).toBe(422);
  const audit = await door.json<{ data: readonly { action: string; target: string }[] }>(OWNER_TOKEN, "GET", "/audit?team_id=acme");
  expect(audit.data).toContainEqual(expect.objectContaining({ action: "dataset.put", target: "words" }));
});

it("keeps its uploads from the sweep until it is deleted", async () => {
  const [kept, gone] = [await upload('{"text":"kept"}\n'), await upload('{"text":"gone"}\n')];
  await put("words", { "train.jsonl": kept });
  const there = async (digest: string): Promise<boolean> => (await service.BUCKET.head(`teams/acme/${datasetKey(digest)}`)) !== null;
  const sweep = async (): Promise<void> => {
    skip(UPLOAD_GRACE_MS + 60_000);
    for (let turn = 0; turn < 3; turn++) await worker.scheduled(createScheduledController(), service);
  };
  await sweep();
  await sweep();
  expect([await there(kept), await there(gone)]).toEqual([true, false]);
  await door.json(ada, "DELETE", "/named-datasets/words");
  await sweep();
  await sweep();
  expect(await there(kept)).toBe(false);
});

it("is what a run reads that names it, as the upload that it is then", async () => {
  const digest = await upload('{"question":"1?","answer":"#### 1"}\n');
  await put("sums", { "train.jsonl": await upload("{}\n"), "test.jsonl": digest });
  const asking = (env_args: object) => ({ ...CREATION, environment_ids: ["gsm8k"], eval_config: { ...CREATION.eval_config, env_args } });
  const refusal = await door.call(ada, "POST", "/hosted-evaluations", asking({ dataset: "edgewise/sums" }));
  expect([refusal.status, await refusal.text()]).toEqual([422, expect.stringContaining("test.jsonl, train.jsonl")]);
  expect(await door.status(ada, "POST", "/hosted-evaluations", asking({ dataset: "edgewise/none" }))).toBe(422);
  const { evaluation_id } = await door.json<{ evaluation_id: string }>(
    ada,
    "POST",
    "/hosted-evaluations",
    asking({ dataset: "edgewise/sums", dataset_split: "test" }),
  );
  expect((await run(`acme/${evaluation_id}`).view())?.config).toMatchObject({
    env_args: { dataset: `sha256:${digest}` },
    dataset_name: "edgewise/sums/test.jsonl",
  });
});
