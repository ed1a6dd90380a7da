import { parquetWriteBuffer } from "hyparquet-writer";
import { describe, expect, it } from "vitest";
import { tableOf } from "../../../src/datasets/hub/hub-files.ts";
import { datasetRows } from "../../../src/datasets/rows.ts";
import { type DatasetArgs, datasetSpec } from "../../../src/datasets/spec.ts";
import { webDatasetHost } from "../../../src/datasets/web-host.ts";
import { COMMIT, type HubScript, scriptedHub } from "../../support/clients/scripted-hub.ts";

const ID = "openai/gsm8k";
const table = (split: string, questions: readonly string[], config = "main") => ({
  config,
  split,
  parquet: new Uint8Array(parquetWriteBuffer({ columnData: [{ name: "question", data: [...questions], type: "STRING" }] })),
});

async function read(script: Omit<HubScript, "id">, args: Omit<DatasetArgs, "dataset"> = {}, token: string | null = null) {
  const { host, asked, notes } = scriptedHub({ id: ID, ...script }, token);
  const spec = datasetSpec({ dataset: ID, ...args }, null);
  if (spec === null) throw new Error("no data set");
  return { rows: await Array.fromAsync(datasetRows(spec, host)), asked, notes };
}

describe("a data set of the Hub", () => {
  it("is read from its converted Parquet files by ranges, and the revision stands on the record", async () => {
    const { rows, asked, notes } = await read({ tables: [table("train", ["x"]), table("test", ["a", "b"])] });
    expect(rows).toEqual([{ question: "a" }, { question: "b" }]);
    expect(notes).toEqual([`Data set ${ID} (main, test) at revision ${COMMIT}.`]);
    expect(asked.filter(({ range }) => range !== null).length).toBeGreaterThan(0);
  });

  it("comes in pages of the viewer where nothing was converted, and where only a part was", async () => {
    const questions = Array.from({ length: 250 }, (_, index) => `q${index}`);
    const rows = questions.map((question) => ({ row: { question } }));
    for (const script of [
      { tables: [{ config: "default", split: "test", parquet: null, rows }] },
      { tables: [{ ...table("test", ["a"], "default"), rows }], partial: true },
    ]) {
      const read_ = await read(script);
      expect(read_.rows.map(({ question }) => question)).toEqual(questions);
      expect(read_.asked.filter(({ url }) => url.includes("/rows?")).length).toBe(3);
    }
  });

  it("refuses rows that the viewer shortened", async () => {
    const rows = [{ row: { question: "whole" } }, { row: { question: "cut" }, truncated_cells: ["question"] }];
    await expect(read({ tables: [{ config: "main", split: "test", parquet: null, rows }] })).rejects.toMatchObject({
      code: "dataset_unreadable",
      message: `Row 1 of ${ID}: the Hub shortened its question, so it cannot be used.`,
      hint: expect.stringContaining("dataset_revision"),
    });
  });

  it("says what to set when it is gated, and sends the token to the Hub alone", async () => {
    const tables = [table("test", ["a"])];
    await expect(read({ tables, gatedBy: "hf_right" })).rejects.toMatchObject({ code: "dataset_unreadable", hint: expect.stringContaining("HF_TOKEN") });
    await expect(read({ tables, gatedBy: "hf_right" }, {}, "hf_wrong")).rejects.toMatchObject({ hint: expect.stringContaining("account of HF_TOKEN") });
    const { rows, asked } = await read({ tables, gatedBy: "hf_right" }, {}, "hf_right");
    expect(rows).toEqual([{ question: "a" }]);
    for (const { url, authorization } of asked)
      expect([url, authorization]).toEqual([url, url.startsWith("https://storage.example.com") ? null : "Bearer hf_right"]);
  });

  it("names the configurations and splits there are when the choice is open or wrong", async () => {
    const tables = [table("train", ["x"]), table("validation", ["y"]), table("train", ["z"], "socratic")];
    await expect(read({ tables })).rejects.toMatchObject({ code: "invalid_request", message: `argument dataset_split is needed; ${ID} has train, validation` });
    await expect(read({ tables }, { dataset_config: "mian" })).rejects.toMatchObject({
      message: `argument dataset_config: there is no "mian"; ${ID} has main, socratic`,
    });
    expect((await read({ tables }, { dataset_split: "validation" })).rows).toEqual([{ question: "y" }]);
    expect((await read({ tables }, { dataset_config: "socratic" })).rows).toEqual([{ question: "z" }]);
  });

  it("is read from the repository's own files at a named revision", async () => {
    const files = {
      "README.md": "x",
      "main/train.jsonl": '{"question": "t"}',
      "main/test-00001-of-00002.csv": "question\nb",
      "main/test-00000-of-00002.csv": "question\na",
    };
    const { rows, notes, asked } = await read({ tables: [], files }, { dataset_revision: "v1.0", dataset_split: "test" });
    expect(rows).toEqual([{ question: "a" }, { question: "b" }]);
    expect(notes).toEqual([`Data set ${ID} (main, test) at revision ${COMMIT}.`]);
    expect(asked.some(({ url }) => url.includes(`/resolve/${COMMIT}/main/test-00000-of-00002.csv`))).toBe(true);
    await expect(read({ tables: [], files }, { dataset_revision: "v9" })).rejects.toMatchObject({ code: "dataset_unreadable" });
  });

  it("is read from what the Hub once converted, at the branch that it keeps that in", async () => {
    const files = { "v1.0/labelled_dev/0000.jsonl": "", "v1.0/labelled_dev/0000.parquet": '{"question": "a"}', "v1.0/train/0000.parquet": '{"question": "t"}' };
    const chosen = { dataset_revision: "refs/convert/parquet", dataset_config: "v1.0", dataset_split: "labelled_dev" };
    expect((await read({ tables: [], files }, chosen)).rows).toEqual([{ question: "a" }]);
    await expect(read({ tables: [], files }, { ...chosen, dataset_split: "dev" })).rejects.toMatchObject({
      message: expect.stringContaining("labelled_dev, train"),
    });
  });

  it("says what it means that the platform gives no connection and no reason, and what needs none", async () => {
    const { host } = scriptedHub({ id: ID, tables: [] });
    const unreached = { ...host, fetch: () => Promise.reject(new Error("internal error; reference = sjcra109vdao")) };
    const spec = datasetSpec({ dataset: "https://data.example/rows.jsonl" }, null);
    if (spec === null) throw new Error("no data set");
    await expect(Array.fromAsync(datasetRows(spec, unreached))).rejects.toMatchObject({
      message: "The data set https://data.example/rows.jsonl could not be fetched: no connection came to be: no network, or no such host",
      hint: expect.stringContaining(`-a '{"dataset": "rows.jsonl"}'`),
    });
  });

  it("survives a busy server, and gives up on a broken one with what it said", async () => {
    expect((await read({ tables: [table("test", ["a"])], faults: [429, 503] })).rows).toHaveLength(1);
    await expect(read({ tables: [], faults: [500, 500, 500, 500, 500, 500, 500, 500] })).rejects.toMatchObject({
      code: "dataset_unreadable",
      message: /status 500/,
    });
  });
});

describe("which table a repository's file is part of", () => {
  it.each([
    ["data/train-00000-of-00003.parquet", "default", "train"],
    ["main/test-00000-of-00001.parquet", "main", "test"],
    ["test.jsonl", "default", "test"],
    ["multiple_choice/validation.csv.gz", "multiple_choice", "validation"],
    ["dev/part.jsonl", "default", "validation"],
    ["en/my-eval_set.csv", "en", "test"],
    ["everything.parquet", "default", "train"],
  ])("%s: %s, %s", (path, config, split) => expect(tableOf(path)).toEqual({ path, config, split }));
  it.each(["README.md", "dataset_info.yaml", "script.py"])("%s is no data", (path) => expect(tableOf(path)).toBeNull());
});

describe("a page of the web", () => {
  const spec = (dataset: string) => datasetSpec({ dataset }, null) ?? expect.fail("no data set");
  const serve = (routes: Readonly<Record<string, () => Response>>, allowPrivate = false) =>
    webDatasetHost({ allowPrivate, sleep: async () => undefined, fetch: async (url) => routes[url]?.() ?? new Response("", { status: 404 }) });
  const redirect = (location: string) => () => new Response(null, { status: 302, headers: { location } });

  it("is followed through redirects to public https addresses only", async () => {
    const routes = {
      "https://a.example.com/x": redirect("https://b.example.com/y"),
      "https://b.example.com/y": () => new Response('{"question": "a"}'),
      "https://a.example.com/in": redirect("http://169.254.169.254/latest"),
      "https://a.example.com/named": redirect("https://10.0.0.1.nip.io/rows"),
      "https://a.example.com/loop": redirect("https://a.example.com/loop"),
    };
    expect(await Array.fromAsync(datasetRows(spec("https://a.example.com/x"), serve(routes)))).toEqual([{ question: "a" }]);
    for (const aside of ["in", "named"]) {
      await expect(Array.fromAsync(datasetRows(spec(`https://a.example.com/${aside}`), serve(routes)))).rejects.toMatchObject({
        message: /not a public https address/,
      });
    }
    await expect(Array.fromAsync(datasetRows(spec("https://a.example.com/loop"), serve(routes)))).rejects.toMatchObject({ message: /more than 5 times/ });
    await expect(Array.fromAsync(datasetRows(spec("https://a.example.com/none"), serve(routes)))).rejects.toMatchObject({ message: /status 404/ });
  });
});

describe("columns under other names", () => {
  const columns = { question: "problem", answer: "solution" };
  it("are renamed, the rest stays; a missing one is named with what there is", async () => {
    const host = webDatasetHost({ fetch: async () => new Response('{"problem": "p", "solution": "s", "question": "old", "level": 3}\n{"problem": "p"}') });
    const spec = datasetSpec({ dataset: "https://a.example.com/x", dataset_columns: columns }, null) ?? expect.fail("no data set");
    const rows = datasetRows(spec, host);
    expect((await rows.next()).value).toEqual({ level: 3, question: "p", answer: "s" });
    await expect(rows.next()).rejects.toMatchObject({
      code: "dataset_unreadable",
      message: 'dataset_columns: the data has no column "solution"; it has problem',
    });
  });

  it("belong to the environment's own data set: another one begins without them", () => {
    const own = { dataset: "a/b", config: "main", split: "test", columns };
    expect(datasetSpec({}, own)).toEqual({ dataset: "a/b", config: "main", split: "test", revision: null, columns });
    expect(datasetSpec({ dataset_split: "train" }, own)).toMatchObject({ config: "main", split: "train", columns });
    expect(datasetSpec({ dataset: "c/d" }, own)).toEqual({ dataset: "c/d", config: null, split: null, revision: null, columns: {} });
    expect(datasetSpec({}, null)).toBeNull();
    expect(() => datasetSpec({ dataset_split: "x" }, null)).toThrow(/dataset_split says how to read a data set/);
    expect(() => datasetSpec({ dataset: "https://a.example.com/x", dataset_config: "x" }, own)).toThrow(
      /dataset_config is for data sets of the Hugging Face Hub/,
    );
    for (const wrong of ["../etc/passwd", "http://a.example.com/x", "https://u:p@a.example.com/x", "data/test.jsonl", "a/b/c", ""]) {
      expect(() => datasetSpec({ dataset: wrong }, null)).toThrow(/is no reference to a data set/);
    }
  });
});
