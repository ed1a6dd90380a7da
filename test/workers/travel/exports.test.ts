import { reset } from "cloudflare:test";
import { parquetReadObjects } from "hyparquet";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { portsOf } from "../../../src/api/ports.ts";
import { sha256Hex } from "../../../src/config/sha256.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import type { Env } from "../../../src/env.ts";
import { askExport } from "../../../src/exporting/ask-export.ts";
import { ExportPlace } from "../../../src/exporting/export-place.ts";
import { makeExport } from "../../../src/exporting/make-export.ts";
import { withinIsolate } from "../../../src/executor/hosting/worker-executor.ts";
import { EXPORT_BYTES, PART_BYTES } from "../../../src/limits.ts";
import { readParquet } from "../../../src/datasets/parquet/parquet.ts";
import { readStatement } from "../../../src/exports/card-statement.ts";
import type { Cells } from "../../../src/exports/column.ts";
import { exportColumns, metricColumns } from "../../../src/exports/columns.ts";
import { shardPath } from "../../../src/exports/shards.ts";
import { cardNumbers, SummedRows } from "../../../src/exports/summed-rows.ts";
import { wellFormedLine } from "../../../src/exports/text-encoder.ts";
import { textHash } from "../../../src/metrics/grouping.ts";
import { RowMarks } from "../../../src/rollouts/rows/rows-digest.ts";
import { memorySource } from "../../support/environments/memory-datasets.ts";
import { Fleet } from "../support/fleet.ts";
import { viewOf } from "../support/runs.ts";
import { ScriptedModel } from "../support/scripted-model.ts";
import { run, service, setVars, STEADY, until } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const app = createApp(portsOf);
const TOKEN = { EDGEWISE_TOKEN: "right" };
let fleet: Fleet | null = null;
/** Messages of the queue; nobody takes them unless a test does. */
let sent: unknown[];
const queue = service.EXPORTS;

beforeEach(() => {
  setVars(STEADY);
  sent = [];
  Object.assign(service, TOKEN, { EXPORTS: { send: async (message: unknown) => void sent.push(message) } });
});
afterEach(async () => {
  await fleet?.close();
  fleet = null;
  Object.assign(service, { EXPORTS: queue });
  delete (service as { EDGEWISE_TOKEN?: string }).EDGEWISE_TOKEN;
  await reset();
});

const ask = (path: string, headers: Record<string, string> = {}) =>
  app.request(`https://edgewise.example/api/v1/evaluations/${path}`, { headers: { authorization: "Bearer right", ...headers } }, service);

const row = (unit: number, text = ""): string =>
  `{"example_id":${unit},"prompt":[{"role":"user","content":"${unit}?"}],"completion":[{"role":"assistant","content":"${text}"}],"reward":1.0,"error":null,"metrics":{},"rollout_index":0}\n`;

/** A settled run of so many rows. */
async function settledRun(units: number, lineOf = (unit: number): string => row(unit)): Promise<RunConfig> {
  const config = await storedRun(units, { lineOf });
  // Nobody is woken before all of it is there.
  fleet = new Fleet({ model: new ScriptedModel() });
  await run(config.run_id).poke();
  await fleet.settled(config.run_id);
  return config;
}

const placeOf = async (config: RunConfig): Promise<ExportPlace> => new ExportPlace(service.BUCKET, config, (await viewOf(config.run_id)).generation);

/** Digests of all files of the export, by their names. */
async function filesOf(config: RunConfig): Promise<Record<string, string>> {
  const { objects } = await service.BUCKET.list({ prefix: `runs/${config.run_id}/exports/` });
  const digests = objects.map(async ({ key }) => {
    const object = await service.BUCKET.get(key);
    return [key.split("/").at(-1) ?? "", await sha256Hex(new Uint8Array((await object?.arrayBuffer()) ?? new ArrayBuffer(0)))] as const;
  });
  return Object.fromEntries((await Promise.all(digests)).filter(([name]) => name !== "state.json"));
}

/** A bucket of which operation `at` and all after it fail: whoever uses it has been killed there. */
function dying(at: number): { readonly env: Env; readonly used: () => number } {
  let used = 0;
  const wrapped = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(of, name) {
        const value: unknown = Reflect.get(of, name);
        if (typeof value !== "function") return value;
        return async (...args: unknown[]) => {
          if (++used >= at) throw new Error("killed");
          const answer: unknown = await (value as (...all: unknown[]) => unknown).apply(of, args);
          return name === "createMultipartUpload" ? wrapped(answer as object) : answer;
        };
      },
    });
  return { env: { ...service, BUCKET: wrapped(service.BUCKET) }, used: () => used };
}

describe("Parquet of a settled run", () => {
  it("has every row in order in files of a bounded size, whichever operation its task is killed at", { timeout: 60_000 }, async () => {
    const config = await settledRun(300);
    const place = await placeOf(config);
    const limits = { shard_bytes: 15_000 };
    const whole = dying(Number.POSITIVE_INFINITY);
    await makeExport(whole.env, config.run_id, limits);
    const files = await filesOf(config);
    const names = Object.keys(files).filter((name) => name.endsWith(".parquet"));
    expect(names.length).toBeGreaterThan(1);
    const ids: unknown[] = [];
    for (let at = 0; at < names.length; at++) {
      const file = (await (await service.BUCKET.get(place.key(`${at}.parquet`)))?.arrayBuffer()) ?? new ArrayBuffer(0);
      for (const { example_id } of await parquetReadObjects({ file })) ids.push(Number(example_id));
    }
    expect(ids).toEqual(Array.from({ length: 300 }, (_, unit) => unit));
    for (let at = 1; at <= whole.used(); at++) {
      await place.clear("all");
      await expect(makeExport(dying(at).env, config.run_id, limits)).rejects.toThrow();
      await makeExport(service, config.run_id, limits);
      expect(await filesOf(config)).toEqual(files);
    }
  });

  it("has a card that states each file, marks of its rows, and numbers that they give", async () => {
    const config = await settledRun(60);
    const place = await placeOf(config);
    await makeExport(service, config.run_id, { shard_bytes: 3_000 });
    const object = await service.BUCKET.get(place.key("README.md"));
    const stated = readStatement((await object?.text()) ?? "");
    const { files = [], metrics = [] } = stated ?? {};
    expect(files.length).toBeGreaterThan(1);
    const digests = await filesOf(config);
    const sums = new SummedRows(stated?.runs ?? [], metrics);
    for (const [at, file] of files.entries()) {
      const bytes = (await (await service.BUCKET.get(place.key(`${at}.parquet`)))?.arrayBuffer()) ?? new ArrayBuffer(0);
      const marks = new RowMarks();
      let rows = 0;
      for await (const cells of readParquet(memorySource(new Uint8Array(bytes)))) {
        sums.add(cells as Cells);
        marks.add(rows++, textHash(wellFormedLine(cells as Cells, exportColumns(metricColumns(metrics), false))));
      }
      expect(file).toEqual({ path: shardPath("parquet", at, files.length), rows, sha256: digests[`${at}.parquet`], marks: marks.text });
    }
    const [run] = stated?.runs ?? [];
    const [result] = sums.results();
    const numbers = run === undefined || result === undefined ? [] : cardNumbers(run, result);
    expect(numbers.filter(({ agrees }) => !agrees)).toEqual([]);
    expect(numbers).toContainEqual({ name: "reward", stated: 1, recomputed: 1, agrees: true });
  });

  it("is written in parts where a file is larger than one, and sent on when the slice is over", { timeout: 60_000 }, async () => {
    const noise = (unit: number): string => Array.from({ length: 1_250 }, (_, at) => Math.imul(unit * 1_250 + at + 1, 2654435761).toString(36)).join("");
    const config = await settledRun(1_200, (unit) => row(unit, noise(unit)));
    await makeExport(service, config.run_id, { slice_ms: -1 });
    expect([sent, (await (await placeOf(config)).state())?.state.files]).toEqual([[{ protocol: 1, export_of: config.run_id }], []]);
    await makeExport(service, config.run_id);
    const { state } = (await (await placeOf(config)).state()) ?? {};
    expect(state).toMatchObject({ done: true, files: [{ rows: 1_200 }] });
    expect(state?.files[0]?.bytes).toBeGreaterThan(PART_BYTES);
    const object = await service.BUCKET.get((await placeOf(config)).key("0.parquet"));
    expect(await parquetReadObjects({ file: (await object?.arrayBuffer()) ?? new ArrayBuffer(0), columns: ["example_id"] })).toHaveLength(1_200);
  });

  it("is begun by the first who asks, made once, and given by its files, with ranges", async () => {
    const config = await settledRun(20);
    const { run_id } = config;
    const first = await ask(`${run_id}/export?format=parquet`);
    expect([first.status, first.headers.get("retry-after"), await first.json()]).toEqual([202, "2", { status: "making", run_id, rows: 0, files: [] }]);
    expect((await ask(`${run_id}/export`)).status).toBe(202);
    expect((await ask(`${run_id}/export/README.md`)).status).toBe(409);
    // Two questions, one task.
    expect(sent).toEqual([{ protocol: 1, export_of: run_id }]);
    await makeExport(service, run_id);
    const done = await ask(`${run_id}/export`);
    const { files, ...rest } = (await done.json()) as { files: { path: string; bytes: number; url: string }[] };
    expect([done.status, rest, files.map(({ path }) => path)]).toEqual([
      200,
      { status: "done", run_id, rows: 20 },
      ["README.md", "data/train-00000-of-00001.parquet"],
    ]);
    const [, data] = files;
    const whole = await app.request(`https://edgewise.example${data?.url}`, { headers: { authorization: "Bearer right" } }, service);
    const file = await whole.arrayBuffer();
    expect(file.byteLength).toBe(data?.bytes);
    expect(await parquetReadObjects({ file })).toHaveLength(20);
    const part = await ask(`${run_id}/export/${data?.path}`, { range: "bytes=0-3" });
    expect([part.status, await part.text()]).toEqual([206, "PAR1"]);
    expect(await (await ask(`${run_id}/export/README.md`)).text()).toContain("20 rollouts of one evaluation");
    expect((await ask(`${run_id}/export/data/other.parquet`)).status).toBe(404);
    expect(sent).toHaveLength(1);
  });

  it("is gone on with when its task is lost, and gone with its run", async () => {
    const config = await settledRun(20);
    await ask(`${config.run_id}/export`);
    await askExport(service, await viewOf(config.run_id));
    expect(sent).toHaveLength(1);
    // As if nobody had got further for long.
    await askExport(service, await viewOf(config.run_id), 0);
    expect(sent).toHaveLength(2);
    await makeExport(service, config.run_id);
    expect(Object.keys(await filesOf(config))).toEqual(["0.parquet", "README.md"]);
    await run(config.run_id).remove();
    await until("the files to be removed", async () => Object.keys(await filesOf(config)).length === 0);
    // A task that comes now finds no run.
    await makeExport(service, config.run_id);
    expect(await filesOf(config)).toEqual({});
  });
});

it("waits for memory beside the executors of its isolate", async () => {
  const ends: (() => void)[] = [];
  const begun: number[] = [];
  const tasks = [0, 1, 2].map((task) =>
    withinIsolate(service, EXPORT_BYTES, () => {
      begun.push(task);
      return new Promise<void>((resolve) => ends.push(resolve));
    }),
  );
  await until("two to begin", async () => begun.length === 2);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(begun).toEqual([0, 1]);
  ends[0]?.();
  await until("the third to begin", async () => begun.length === 3);
  for (const end of ends) end();
  await Promise.all(tasks);
});

describe("text of a settled run", () => {
  it("is made as it is read: CSV and JSON Lines", async () => {
    const config = await settledRun(300);
    const lines = (await (await ask(`${config.run_id}/export?format=jsonl`)).text()).trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { example_id: number }).example_id)).toEqual(Array.from({ length: 300 }, (_, unit) => unit));
    const csv = await ask(`${config.run_id}/export?format=csv`);
    expect(csv.headers.get("content-disposition")).toBe(`attachment; filename="${config.run_id}.csv"`);
    expect((await csv.text()).split("\r\n")).toHaveLength(302);
    expect((await ask(`${config.run_id}/export?format=xml`)).status).toBe(422);
    expect((await ask("0000dead/export")).status).toBe(404);
  });
});
