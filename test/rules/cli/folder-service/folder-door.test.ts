import { appendFileSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { z } from "zod";
import { columnsLine, previews, rolloutMessages, rolloutOutline } from "../../../../src/api/cells/cell-schemas.ts";
import type { comparedExamplesAnswer, comparisonAnswer } from "../../../../src/api/comparisons/comparison-schemas.ts";
import { evaluation } from "../../../../src/api/response-schemas.ts";
import { evaluationList } from "../../../../src/api/runs/list-schemas.ts";
import { doorOfFolders } from "../../../../src/cli/folder-service/door-of-folders.ts";
import { folderPorts } from "../../../../src/cli/folder-service/folder-ports.ts";
import { FoundFolders } from "../../../../src/cli/folder-service/found-folders.ts";
import { MAX_FOLDER_ROW_BYTES } from "../../../../src/limits.ts";

const FIXTURES = new URL("../../../fixtures/", import.meta.url).pathname;
/** Folders that nobody writes to any more, as far as the door can tell. */
const LATER_MS = 3_600_000;

let place = "";
/** Held in memory here. */
const MOST_ROWS = 3_001;

/** What the door takes the time to be beyond the machine's. */
let ahead = LATER_MS;
let door: (request: Request) => Promise<Response>;
beforeEach(() => {
  place = mkdtempSync(join(tmpdir(), "edgewise-folders-"));
  ahead = LATER_MS;
  const now = (): number => Date.now() + ahead;
  const folders = new FoundFolders(place, { path: ".", envDir: "", outputsDir: "" }, now, MOST_ROWS);
  door = doorOfFolders(folderPorts({ folders, shown: place, assets: null, now }));
});
afterEach(() => rmSync(place, { recursive: true, force: true }));

type Row = Readonly<Record<string, unknown>>;
type Listed = z.infer<typeof evaluationList>;
type Run = z.infer<typeof evaluation>;
interface Samples {
  readonly samples: readonly Row[];
}
type Line = z.infer<typeof columnsLine>;

const row = (example: number | string, more: Row = {}): Row => ({
  example_id: example,
  prompt: [{ role: "user", content: `question ${example}` }],
  completion: [{ role: "assistant", content: `answer ${example}` }],
  reward: 1,
  error: null,
  metrics: { correct: 1 },
  ...more,
});

const textOf = (rows: readonly Row[]): string => rows.map((each) => `${JSON.stringify(each)}\n`).join("");

/** A folder of another program; `rows` may be a text. */
function folder(name: string, rows: readonly Row[] | string, more: Row = {}): string {
  const path = join(place, name);
  mkdirSync(path, { recursive: true });
  const metadata = { env_id: "my-env", model: "small", num_examples: rows.length, rollouts_per_example: 1, ...more };
  writeFileSync(join(path, "metadata.json"), JSON.stringify(metadata));
  writeFileSync(join(path, "results.jsonl"), typeof rows === "string" ? rows : textOf(rows));
  return path;
}

const call = (path: string, init?: RequestInit): Promise<Response> =>
  door(new Request(`http://127.0.0.1${path.startsWith("/api") ? path : `/api/v1${path}`}`, init));
const json = async <T = Row>(path: string, body?: object): Promise<T> => {
  const init = body === undefined ? {} : { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const answer = await call(path, init);
  expect({ path, status: answer.status, refusal: answer.ok ? "" : await answer.clone().text() }).toEqual({ path, status: 200, refusal: "" });
  return (await answer.json()) as T;
};
const listed = async (query = ""): Promise<Listed["evaluations"]> => (await json<Listed>(`/evaluations${query}`)).evaluations;
const idOf = async (name: string): Promise<string> => (await listed()).find((run) => run.name === name)?.evaluation_id ?? "";
const columnsOf = async (id: string, query = ""): Promise<readonly Line[]> =>
  (await (await call(`/evaluations/${id}/columns${query}`)).text())
    .trim()
    .split("\n")
    .map((line) => columnsLine.parse(JSON.parse(line)));
/** Values of a column by example, as the blocks have them. */
const values = (lines: readonly Line[], column: string): unknown[] => lines.flatMap((line) => (line.kind === "block" ? line.columns[column] : []));

describe("folders of the Python library", () => {
  const FINISHED = "verifiers-folders/0.1.14-finished";

  it("are listed, shown and read in the shapes that a service answers in", async () => {
    cpSync(join(FIXTURES, FINISHED), join(place, "python"), { recursive: true });
    const list = evaluationList.parse(await json("/evaluations"));
    expect(list.total).toBe(1);
    const id = await idOf("python");
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    const run = evaluation.parse(await json(`/evaluations/${id}`));
    expect(run).toMatchObject({
      status: "COMPLETED",
      total_samples: 12,
      description: "python",
      edgewise: { settled: true, done_rollouts: 12, total_units: 6 },
    });
    expect(run.edgewise.reward).toBeCloseTo(Number(JSON.parse(readFileSync(join(place, "python/metadata.json"), "utf8")).avg_reward), 9);
    expect(run.edgewise.reward_ci95).toHaveLength(2);
    const lines = readFileSync(join(place, "python/results.jsonl"), "utf8").trim().split("\n");
    const rewards = lines.map((line) => (JSON.parse(line) as { reward: number }).reward);
    expect(values(await columnsOf(id), "reward")).toEqual(rewards);
    expect(await (await call(`/evaluations/${id}/rollouts/2/1`)).text()).toBe(lines[5]);
    expect(rolloutOutline.parse(await json(`/evaluations/${id}/rollouts/2/1/outline`)).messages[0]).toMatchObject({ part: "prompt", role: "system" });
    expect(rolloutMessages.parse(await json(`/evaluations/${id}/rollouts/2/1/messages`)).messages).toHaveLength(3);
    const asked = {
      places: [
        [0, 0],
        [5, 1],
        [6, 0],
      ],
      fields: ["completion", "answer"],
    };
    const shown = previews.parse(await json(`/evaluations/${id}/previews`, asked));
    expect(shown.previews.map((each) => each !== null)).toEqual([true, true, false]);
    expect((await json(`/evaluations/${id}/samples?page=6&limit=2`)).samples).toEqual(lines.slice(10).map((line) => JSON.parse(line)));
    expect(await (await call(`/evaluations/${id}/files/results.jsonl`)).text()).toBe(`${lines.join("\n")}\n`);
    expect((await json(`/evaluations/${id}/distribution?metric=similarity`)).n).toBe(12);
    const found = await (await call(`/evaluations/${id}/search?text=SNOW`)).text();
    expect(found).toContain('"kind":"match","example":0,"rollout":0,"field":"prompt"');
  });

  it("that were ended before their time say so once their rows are counted", async () => {
    cpSync(join(FIXTURES, "verifiers-folders/0.1.12-interrupted"), join(place, "python"), { recursive: true });
    const id = await idOf("python");
    expect(await json(`/evaluations/${id}`)).toMatchObject({ status: "CANCELLED", total_samples: 4 });
    expect((await listed())[0]).toMatchObject({ status: "CANCELLED", total_samples: 4 });
  });

  it("with traces in place of rows are read as rows, and counted for the list", async () => {
    cpSync(join(FIXTURES, "verifiers-traces/0.4.0"), join(place, "traces"), { recursive: true });
    const [run] = await listed();
    await expect.poll(async () => (await listed())[0]?.total_samples).toBe(10);
    const id = run?.evaluation_id ?? "";
    const all = (await json<Samples>(`/evaluations/${id}/samples?limit=100`)).samples;
    expect(all.map(({ reward }) => reward)).toEqual(values(await columnsOf(id), "reward"));
    expect(await json(`/evaluations/${id}/rollouts/1/1`)).toEqual(all[3]);
  });
});

describe("rows of a folder", () => {
  it("that are scattered over the file are attempts at their example, in the order in which examples came first", async () => {
    folder(
      "mixed",
      [row("b", { reward: 0.1 }), row("a", { reward: 0.2, rollout_index: 1 }), row("b", { reward: 0.3 }), row("a", { reward: 0.4, rollout_index: 0 })],
      {
        num_examples: 2,
        rollouts_per_example: 2,
      },
    );
    const id = await idOf("mixed");
    const lines = await columnsOf(id);
    expect(lines.find(({ kind }) => kind === "block")).toMatchObject({ examples: [0, 1], example_ids: ["b", "a"] });
    expect(values(lines, "reward")).toEqual([0.1, 0.3, 0.4, 0.2]);
    const rewards = (await json<Samples>(`/evaluations/${id}/samples`)).samples.map(({ reward }) => reward);
    expect(rewards).toEqual([0.1, 0.3, 0.4, 0.2]);
    expect((await json(`/evaluations/${id}/rollouts/1/0`)).reward).toBe(0.4);
  });

  it("that cannot be read are in no number and are said; NaN is no score, and the row is JSON for whoever asks", async () => {
    const text = `${textOf([row(0)])}{"broken\n\n[1]\n${textOf([row(1)]).replace('"reward":1', '"reward":NaN')}{"cut`;
    folder("broken", text, { num_examples: 2 });
    const id = await idOf("broken");
    const { edgewise } = await json<Run>(`/evaluations/${id}`);
    expect(edgewise.done_rollouts).toBe(2);
    expect(edgewise.failure?.code).toBe("storage_damaged");
    expect(edgewise.failure?.message).toMatch(/^3 lines of results\.jsonl cannot be read, .*row 2 is no row .*row 3 is no row .*the last row is cut/);
    expect((await json(`/evaluations/${id}/rollouts/1/0`)).reward).toBe(null);
    expect((await json(`/evaluations/${id}/samples`)).samples).toHaveLength(2);
  });

  it("of more bytes than are taken as one row are said, and those beside them are read", async () => {
    const path = folder("long", [row(0)]);
    // A hole of zeros, which takes no space on the disk.
    truncateSync(join(path, "results.jsonl"), textOf([row(0)]).length + MAX_FOLDER_ROW_BYTES + 1);
    appendFileSync(join(path, "results.jsonl"), `\n${textOf([row(1)])}`);
    const { edgewise } = await json<Run>(`/evaluations/${await idOf("long")}`);
    expect(edgewise.done_rollouts).toBe(2);
    expect(edgewise.failure?.message).toContain("row 2 has 268,435,457 bytes, more than the 268,435,456 that a row may have to be shown");
  });

  it("that ended in errors are grouped by code, with what the first one says", async () => {
    folder("errors", [row(0), row(1, { reward: 0, error: { error: "ModelError", error_chain_repr: "ModelError('no')" } })]);
    const { errors } = await json(`/evaluations/${await idOf("errors")}/errors`);
    expect(errors).toMatchObject([{ code: "provider_error", count: 1, resumable: false, first: { example: 1, rollout: 0, message: "ModelError('no')" } }]);
  });

  it("are not grouped where one example has nearly all of them", async () => {
    const rows = Array.from({ length: 3_000 }, (_, at) => row(at < 2_000 ? "one" : at));
    folder("uneven", rows, { num_examples: 1_001 });
    const [head] = await columnsOf(await idOf("uneven"));
    expect(head).toMatchObject({ examples: 3_000, rollouts: 1 });
  });
});

describe("a folder that is written to", () => {
  it("grows under whoever looks: only new examples are told, and places stay", async () => {
    ahead = 0;
    const path = folder("live", [row(1), row(0)], { num_examples: 4 });
    const id = await idOf("live");
    const [head] = await columnsOf(id);
    expect(head).toMatchObject({ generation: 1, seq: 2, settled: false });
    expect(await json(`/evaluations/${id}`)).toMatchObject({ status: "RUNNING", edgewise: { done_rollouts: 2, total_rollouts: 4, settled: false } });
    // Whoever writes is within a line.
    appendFileSync(join(path, "results.jsonl"), textOf([row(7)]).slice(0, 30));
    expect(await json(`/evaluations/${id}`)).toMatchObject({ edgewise: { done_rollouts: 2 }, error_message: null });
    appendFileSync(join(path, "results.jsonl"), `${textOf([row(7)]).slice(30)}${textOf([row(3)])}`);
    const news = await columnsOf(id, "?after=2");
    expect(news[0]).toMatchObject({ generation: 1, seq: 4, examples: 4, settled: true });
    expect(news.find(({ kind }) => kind === "block")).toMatchObject({ examples: [2, 3], example_ids: [7, 3] });
    expect(await json(`/evaluations/${id}`)).toMatchObject({ status: "COMPLETED", edgewise: { done_rollouts: 4 } });
  });

  it("is begun anew where its file was written anew", async () => {
    const path = folder("again", [row(0), row(1)]);
    const id = await idOf("again");
    expect((await columnsOf(id))[0]).toMatchObject({ generation: 1 });
    writeFileSync(join(path, "results.jsonl"), textOf([row(1), row(0)]));
    utimesSync(join(path, "results.jsonl"), new Date(), new Date(Date.now() + 5_000));
    const lines = await columnsOf(id);
    expect(lines[0]).toMatchObject({ generation: 2 });
    expect(lines.find(({ kind }) => kind === "block")).toMatchObject({ example_ids: [1, 0] });
  });

  it("is begun anew where its file was written anew and is longer, and nothing is answered out of what was there", async () => {
    const path = folder("again", [row(0, { reward: 0 }), row(1)]);
    const id = await idOf("again");
    expect((await columnsOf(id))[0]).toMatchObject({ generation: 1 });
    // Of a row that is so large what was parsed is kept.
    const long = (letter: string): Row => row(2, { completion: [{ role: "assistant", content: letter.repeat(17 * 1024 * 1024) }] });
    const second = async (): Promise<string> => JSON.stringify(await json(`/evaluations/${id}/rollouts/0/0/messages?from=1&to=2`)).slice(0, 120);
    for (const [rows, letter, generation] of [
      [[long("a")], "aaaa", 2],
      [[long("b")], "bbbb", 3],
      [[long("c"), row(3)], "cccc", 4],
    ] as const) {
      writeFileSync(join(path, "results.jsonl"), textOf(rows));
      utimesSync(join(path, "results.jsonl"), new Date(), new Date(Date.now() + generation * 5_000));
      expect(await second()).toContain(letter);
      expect((await columnsOf(id))[0]).toMatchObject({ generation, seq: rows.length });
    }
    appendFileSync(join(path, "results.jsonl"), textOf([row(4)]));
    expect(await second()).toContain("cccc");
    expect((await columnsOf(id))[0]).toMatchObject({ generation: 4, seq: 3 });
  });

  it("is read again where its rows were given up for those of others, and says the same", async () => {
    for (const name of ["first", "second"])
      folder(
        name,
        Array.from({ length: 2_000 }, (_, at) => row(at)),
      );
    const [first, second] = [await idOf("first"), await idOf("second")];
    const before = await columnsOf(first);
    await columnsOf(second);
    const [, ...after] = await columnsOf(first);
    expect(after).toEqual(before.slice(1));
    expect((await listed("?search=second"))[0]?.total_samples).toBe(2_000);
  });

  it("is waited for where it is ours and nobody writes to it any more", async () => {
    folder("0a1b2c3d", [row(0)], { edgewise: { status: "RUNNING" }, num_examples: 3 });
    const [run] = await listed();
    expect(run).toMatchObject({ evaluation_id: "0a1b2c3d", status: "RUNNING", edgewise: { suspended: true, settled: false } });
  });
});

describe("a folder that cannot be read any more", () => {
  it("is gone from the list, and not found by whoever had it open; and so are all where their place is gone", async () => {
    const path = folder("one", [row(0)]);
    folder("other", [row(0)]);
    const [one, other] = [await idOf("one"), await idOf("other")];
    await json(`/evaluations/${one}`);
    rmSync(path, { recursive: true });
    ahead += 10_000;
    expect((await listed()).map(({ name }) => name)).toEqual(["other"]);
    expect((await call(`/evaluations/${one}`)).status).toBe(404);
    rmSync(place, { recursive: true });
    ahead += 10_000;
    expect(await listed()).toEqual([]);
    expect((await call(`/evaluations/${other}`)).status).toBe(404);
  });

  it("says why, and what to do, and keeps nobody from the others", async () => {
    const path = folder("one", [row(0)], { edgewise: { status: "COMPLETED", rows_digest: { rows: 1 } } });
    folder("other", [row(0)]);
    rmSync(join(path, "results.jsonl"));
    // A link to itself: this user, who may be root, cannot read it either.
    symlinkSync("results.jsonl", join(path, "results.jsonl"));
    expect((await listed()).map(({ name }) => name).toSorted()).toEqual(["one", "other"]);
    const refused = await call(`/evaluations/${await idOf("one")}`);
    expect([refused.status, await refused.json()]).toEqual([
      503,
      { code: "storage_unavailable", detail: expect.stringMatching(/^The rows of one cannot be read: ELOOP/), hint: expect.stringContaining("ls -la") },
    ]);
    expect((await json<Samples>(`/evaluations/${await idOf("other")}/samples`)).samples).toHaveLength(1);
  });
});

describe("what is done to folders", () => {
  it("is looking alone: every change is refused with what would take it", async () => {
    folder("one", [row(0)]);
    const id = await idOf("one");
    for (const [method, path] of [
      ["POST", "/hosted-evaluations"],
      ["POST", `/evaluations/${id}/resume`],
      ["PATCH", `/evaluations/${id}`],
      ["PUT", `/evaluations/${id}/keep`],
      ["DELETE", `/evaluations/${id}`],
      ["POST", "/tokens"],
    ] as const) {
      const refused = await call(path, { method });
      expect([refused.status, await refused.json()]).toEqual([
        403,
        expect.objectContaining({ code: "forbidden", hint: expect.stringContaining("edgewise serve") }),
      ]);
    }
    expect((await call("/endpoints")).status).toBe(404);
  });

  it("is refused to pages of other addresses, and under other names of this machine", async () => {
    folder("one", [row(0)]);
    for (const headers of [{ origin: "https://evil.example" }, { host: "evil.example" }]) expect((await call("/evaluations", { headers })).status).toBe(401);
  });

  it("reaches no file but those of folders that were found", async () => {
    folder("one", [row(0)]);
    writeFileSync(join(place, "secret.txt"), "secret");
    for (const path of [
      "/evaluations/00000000",
      "/evaluations/..%2f..%2fsecret.txt/files/results.jsonl",
      `/evaluations/${await idOf("one")}/files/..%2fsecret.txt`,
    ])
      expect((await call(path)).status).toBe(404);
  });

  it("compares them, example by example", async () => {
    folder(
      "before",
      Array.from({ length: 6 }, (_, at) => row(at, { reward: at % 2 })),
      { num_examples: 6 },
    );
    folder(
      "after",
      Array.from({ length: 6 }, (_, at) => row(at, { reward: at === 0 ? 1 : at % 2 })),
      { num_examples: 6 },
    );
    const runs = [await idOf("before"), await idOf("after")];
    const { comparisons } = await json<z.infer<typeof comparisonAnswer>>("/comparisons", { runs });
    expect(comparisons[0]).toMatchObject({ joined: 6, better: 1, worse: 0, equal: 5 });
    const { examples } = await json<z.infer<typeof comparedExamplesAnswer>>("/comparisons/examples", { runs, order: "best", limit: 1 });
    expect(examples[0]?.map((cell) => cell?.mean)).toEqual([0, 1]);
    expect(examples[0]?.map((cell) => cell?.place)).toEqual([0, 0]);
  });

  it("finds and orders them as a service does its runs", async () => {
    folder("zeta", [row(0)], { avg_reward: 0.2, model: "Large" });
    folder("alpha", [row(0)], { avg_reward: 0.9, model: "small" });
    folder("none", [], { model: "medium" });
    const names = async (query: string): Promise<unknown[]> => (await listed(query)).map(({ name }) => name);
    expect(await names("?sort=reward&order=desc")).toEqual(["alpha", "zeta", "none"]);
    expect(await names("?sort=model&order=asc")).toEqual(["zeta", "none", "alpha"]);
    expect(await names("?search=LARGE%20zet")).toEqual(["zeta"]);
    expect(await names("?status=FAILED")).toEqual([]);
  });

  it("shows hostile names as what they are, and folders whose metadata cannot be read by what is wrong with them", async () => {
    folder("hostile", [row(0)], { model: "../../../x", env_id: "<script>alert(1)</script>", name: "<b>bold</b>" });
    mkdirSync(join(place, "torn"));
    writeFileSync(join(place, "torn/metadata.json"), '{"env_id":');
    writeFileSync(join(place, "torn/results.jsonl"), textOf([row(0)]));
    const id = await idOf("<b>bold</b>");
    expect(await json(`/evaluations/${id}`)).toMatchObject({ name: "<b>bold</b>", metadata: { model: "../../../x", env_id: "script-alert-1-script" } });
    expect((await call(`/evaluations/${id}/files/results.jsonl`)).status).toBe(200);
    const torn = await idOf("torn");
    expect(await json(`/evaluations/${torn}`)).toMatchObject({
      status: "FAILED",
      total_samples: 1,
      error_message: expect.stringContaining("metadata.json is no JSON"),
    });
  });
});
