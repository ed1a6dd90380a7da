import { evictDurableObject, reset, runInDurableObject } from "cloudflare:test";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createApp } from "../../../src/api/app.ts";
import { columnsLine, previews as previewsAnswer, rolloutMessages, rolloutOutline, searchLine } from "../../../src/api/cells/cell-schemas.ts";
import { portsOf } from "../../../src/api/ports.ts";
import type { ColumnsBlock, ColumnsEnd, ColumnsHead, ColumnsLine } from "../../../src/cells/column-lines.ts";
import type { Env } from "../../../src/env.ts";
import type { ColumnsPage } from "../../../durable-objects/run/reading/cells-protocol.ts";
import { SqlLedger } from "../../../durable-objects/run/state/sql-ledger.ts";
import { MAX_RPC_BYTES } from "../../../src/limits.ts";
import { rawRun, run, service, setVars, STEADY } from "../support/service.ts";
import { storedRun } from "../support/stored-run.ts";

const app = createApp(portsOf);
const local = { ...service, LOCAL: "1", BOOT_ID: "boot" } as Env;
const get = async (path: string): Promise<Response> => app.request(`http://localhost/api/v1${path}`, {}, local);

async function columns(id: string, query = ""): Promise<readonly ColumnsLine[]> {
  const response = await get(`/evaluations/${id}/columns${query}`);
  expect(response.status).toBe(200);
  const lines = (await response.text()).split("\n").slice(0, -1);
  return lines.map((line) => columnsLine.parse(JSON.parse(line)) as ColumnsLine);
}
const headOf = (lines: readonly ColumnsLine[]): ColumnsHead => lines[0] as ColumnsHead;
const endOf = (lines: readonly ColumnsLine[]): ColumnsEnd => lines.at(-1) as ColumnsEnd;
const blocksOf = (lines: readonly ColumnsLine[]): readonly ColumnsBlock[] => lines.filter((line) => line.kind === "block");
const examplesOf = (lines: readonly ColumnsLine[]): readonly number[] => blocksOf(lines).flatMap(({ examples }) => examples);

const line = (unit: number, rollout: number): string =>
  `${JSON.stringify({
    example_id: unit,
    prompt: [{ role: "user", content: `question ${unit}` }],
    completion: [{ role: "assistant", content: `answer ${rollout}` }],
    reward: 1,
    rollout_index: rollout,
  })}\n`;

beforeEach(() => setVars(STEADY));
afterEach(() => reset());

describe("columns of a run", { timeout: 60_000 }, () => {
  it("tell the numbers of all rollouts, in blocks, by the place of each example", async () => {
    const { run_id } = await storedRun(9_000, { lineOf: line, rollouts: 2, permuted: true });
    const lines = await columns(run_id);
    expect(headOf(lines)).toMatchObject({ generation: 1, examples: 9_000, rollouts: 2, settled: false, metrics: [] });
    expect(blocksOf(lines).map(({ examples }) => examples.length)).toEqual([4_096, 4_096, 808]);
    expect(examplesOf(lines).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 9_000 }, (_, example) => example));
    for (const { columns: of, examples } of blocksOf(lines)) {
      expect(Object.keys(of)).toEqual(["reward", "error", "truncated", "input_tokens", "output_tokens"]);
      expect(of.reward).toEqual(Array.from({ length: 2 * examples.length }, () => 1));
      expect(of.error).toEqual(Array.from({ length: 2 * examples.length }, () => 0));
    }
    expect(endOf(lines)).toEqual({ kind: "end", seq: headOf(lines).seq, next: null });
  });

  it("of a running run are those of the examples that are done, and with `after` of those that were done since", async () => {
    const isDone = (unit: number): boolean => unit % 3 !== 0;
    const { run_id } = await storedRun(600, { lineOf: line, isDone, events: true, segmentUnits: 100 });
    const whole = await columns(run_id);
    expect(examplesOf(whole).toSorted((a, b) => a - b)).toEqual(Array.from({ length: 600 }, (_, unit) => unit).filter(isDone));
    const { seq } = headOf(whole);
    expect(examplesOf(await columns(run_id, `?after=${seq}`))).toEqual([]);
    await evictDurableObject(rawRun(run_id));
    const newest = examplesOf(await columns(run_id, `?after=${seq - 1}`));
    expect(newest.length).toBeGreaterThan(0);
    expect(newest.length).toBeLessThan(examplesOf(whole).length);
    expect(examplesOf(await columns(run_id, "?after=0")).toSorted((a, b) => a - b)).toEqual(examplesOf(whole).toSorted((a, b) => a - b));
  });

  it("of many metrics come in pages that one answer of the Run can have, and are whole", async () => {
    const METRICS = 1_200;
    const rollouts = 64;
    const { run_id } = await storedRun(24, { lineOf: line, rollouts });
    const metrics = Object.fromEntries(Array.from({ length: METRICS }, (_, metric) => [`metric ${metric}`, metric + 0.123_456_789]));
    await runInDurableObject(rawRun(run_id), (_, { storage }) =>
      storage.transactionSync(() => {
        const ledger = new SqlLedger(storage.sql);
        const dones = ledger.donesOf(Array.from({ length: 24 }, (__, unit) => unit));
        ledger.putDones(dones.map((done) => ({ ...done, rollouts: done.rollouts.map((rollout) => (rollout === null ? null : { ...rollout, metrics })) })));
      }),
    );
    await evictDurableObject(rawRun(run_id));
    const seen: number[] = [];
    let pages = 0;
    for (let from: number | null = null; pages === 0 || from !== null; pages++) {
      const page: ColumnsPage | null = await run(run_id).columns({ after: null, from });
      expect(page?.packed.reduce((sum, { length }) => sum + length, 0)).toBeLessThan(MAX_RPC_BYTES / 2);
      seen.push(...(page?.places ?? []));
      from = page?.next ?? null;
    }
    expect([pages > 1, seen]).toEqual([true, range(0, 24)]);
    const last = `m:metric ${METRICS - 1}`;
    const [head, ...rest] = await columns(run_id, `?names=${last}`);
    expect((head as ColumnsHead).metrics).toHaveLength(METRICS);
    expect(blocksOf(rest).flatMap((block) => block.columns[last])).toEqual(Array.from({ length: 24 * rollouts }, () => METRICS - 1 + 0.123_456_789));
  });

  it("are those that are asked for; what is no column is refused, and what nobody knows is left out", async () => {
    const { run_id } = await storedRun(3, { lineOf: line });
    const [head, block] = await columns(run_id, "?names=output_tokens,m:no%252C1,cost");
    expect(head).toMatchObject({ columns: ["output_tokens", "m:no,1", "cost"] });
    expect((block as ColumnsBlock).columns).toEqual({ output_tokens: [1, 1, 1] });
    const refused = await get(`/evaluations/${run_id}/columns?names=reward,turns`);
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({
      code: "invalid_request",
      detail: [{ loc: ["query", "names"], msg: expect.stringContaining('"turns" is none') }],
    });
    expect((await get("/evaluations/00000000/columns")).status).toBe(404);
  });
});

describe("one rollout", { timeout: 60_000 }, () => {
  it("is its row, whole, outlined, and by its messages", async () => {
    const { run_id } = await storedRun(40, { lineOf: line, rollouts: 3, permuted: true });
    for (const [example, rollout] of [
      [0, 0],
      [13, 2],
      [39, 1],
    ] as const) {
      const response = await get(`/evaluations/${run_id}/rollouts/${example}/${rollout}`);
      expect(`${await response.text()}\n`).toBe(line(example, rollout));
      const outline = rolloutOutline.parse(await (await get(`/evaluations/${run_id}/rollouts/${example}/${rollout}/outline`)).json());
      expect(outline).toMatchObject({ example, example_id: example, rollout, bytes: line(example, rollout).length - 1, fields: { reward: 1 } });
      expect(outline.messages).toEqual([
        { part: "prompt", role: "user", chars: `question ${example}`.length, text: `question ${example}` },
        { part: "completion", role: "assistant", chars: 8, text: `answer ${rollout}` },
      ]);
      const messages = rolloutMessages.parse(await (await get(`/evaluations/${run_id}/rollouts/${example}/${rollout}/messages?from=1&to=9`)).json());
      expect(messages).toEqual({ from: 1, messages: [{ part: "completion", message: { role: "assistant", content: `answer ${rollout}` } }], next: null });
    }
  });

  it("of any size is read in parts; a large one is kept between two questions, and taken for no other", async () => {
    const word = "x".repeat(1_000);
    const { run_id } = await storedRun(2, {
      lineOf: (unit) =>
        `${JSON.stringify({ example_id: unit, reward: 1, rollout_index: 0, completion: Array.from({ length: 18_000 }, (_, index) => ({ role: "assistant", content: `${unit} ${index} ${word}` })) })}\n`,
      segmentUnits: 1,
    });
    const messages = async (example: number, from: number) =>
      rolloutMessages.parse(await (await get(`/evaluations/${run_id}/rollouts/${example}/0/messages?from=${from}&to=${from + 1}`)).json()).messages[0]?.message
        .content;
    expect([await messages(0, 5), await messages(0, 17_999), await messages(1, 5), await messages(0, 6)]).toEqual(
      ["0 5", "0 17999", "1 5", "0 6"].map((start) => `${start} ${word}`),
    );
    const outline = rolloutOutline.parse(await (await get(`/evaluations/${run_id}/rollouts/1/0/outline`)).json());
    expect([outline.example_id, outline.messages.length, outline.bytes > 18_000_000]).toEqual([1, 18_000, true]);
  });

  it("is not found where its example is not done, and beyond the run", async () => {
    const { run_id } = await storedRun(10, { lineOf: line, rollouts: 2, isDone: (unit) => unit !== 7 });
    for (const place of ["7/0", "10/0", "3/2", "x/0", "3/-1", "3/99999999999"])
      expect((await get(`/evaluations/${run_id}/rollouts/${place}`)).status).toBe(404);
    expect((await get(`/evaluations/${run_id}/rollouts/6/1`)).status).toBe(200);
  });
});

async function previews(id: string, body: object): Promise<readonly unknown[]> {
  const response = await post(`/evaluations/${id}/previews`, body);
  expect(response.status).toBe(200);
  return previewsAnswer.parse(await response.json()).previews;
}
const post = async (path: string, body: object): Promise<Response> =>
  app.request(`http://localhost/api/v1${path}`, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) }, local);

describe("previews", { timeout: 60_000 }, () => {
  it("are texts of rows in the order that is asked for, clipped, and null where there is no row", async () => {
    const { run_id } = await storedRun(300, { lineOf: line, rollouts: 2, isDone: (unit) => unit !== 9 });
    const places = [
      [120, 1],
      [3, 0],
      [9, 0],
      [120, 0],
      [400, 0],
      [3, 5],
    ];
    expect(await previews(run_id, { places, fields: ["prompt", "completion", "turns", "seconds"], characters: 9 })).toEqual([
      { example: 120, example_id: 120, rollout: 1, values: { prompt: "question ", completion: "answer 1", turns: 1, seconds: null }, cut: ["prompt"] },
      { example: 3, example_id: 3, rollout: 0, values: { prompt: "question ", completion: "answer 0", turns: 1, seconds: null }, cut: ["prompt"] },
      null,
      { example: 120, example_id: 120, rollout: 0, values: { prompt: "question ", completion: "answer 0", turns: 1, seconds: null }, cut: ["prompt"] },
      null,
      null,
    ]);
    expect((await post(`/evaluations/${run_id}/previews`, { places: Array.from({ length: 201 }, () => [0, 0]), fields: ["prompt"] })).status).toBe(422);
    expect((await post(`/evaluations/${run_id}/previews`, { places, fields: [] })).status).toBe(422);
    expect((await post("/evaluations/00000000/previews", { places, fields: ["prompt"] })).status).toBe(404);
  });

  it("of an example whose rows are larger than what is held at once are read row by row", async () => {
    const text = "x".repeat(1_400_000);
    const { run_id } = await storedRun(2, {
      lineOf: (unit, rollout) =>
        `${JSON.stringify({ example_id: unit, prompt: text, completion: `${rollout} is the answer`, reward: 1, rollout_index: rollout })}\n`,
      rollouts: 7,
      segmentUnits: 1,
    });
    const places = [
      [1, 6],
      [0, 3],
      [1, 0],
    ];
    expect(await previews(run_id, { places, fields: ["completion"] })).toMatchObject([
      { example: 1, rollout: 6, values: { completion: "6 is the answer" } },
      { example: 0, rollout: 3, values: { completion: "3 is the answer" } },
      { example: 1, rollout: 0, values: { completion: "0 is the answer" } },
    ]);
    expect(await (await get(`/evaluations/${run_id}/rollouts/1/5`)).json()).toMatchObject({ completion: "5 is the answer" });
  });
});

async function found(id: string, query: string) {
  const response = await get(`/evaluations/${id}/search?${query}`);
  expect(response.status).toBe(200);
  return (await response.text())
    .split("\n")
    .slice(0, -1)
    .map((each) => searchLine.parse(JSON.parse(each)));
}

describe("searching rows", { timeout: 60_000 }, () => {
  it("finds texts whatever their case, where it is to look, and goes on where it stopped", async () => {
    const { run_id } = await storedRun(2_000, { lineOf: line, permuted: true });
    const lines = await found(run_id, "text=QUESTION 17");
    const matches = lines.flatMap((each) => (each.kind === "match" ? [each] : []));
    expect(matches.map(({ example }) => example).sort((a, b) => a - b)).toEqual([17, ...range(170, 180), ...range(1_700, 1_800)]);
    expect(matches[0]).toMatchObject({ rollout: 0, field: "prompt", excerpt: expect.stringMatching(/^question 17\d*$/) });
    expect(lines.at(-1)).toEqual({ kind: "end", scanned: 2_000, next: null });
    expect(await found(run_id, "text=question&in=completion,answer")).toEqual([{ kind: "end", scanned: 2_000, next: null }]);
    expect((await found(run_id, "field=example_id&value=1234")).slice(0, 1)).toEqual([{ kind: "match", example: 1_234, rollout: 0, field: null, excerpt: "" }]);
    const capped = await found(run_id, "text=question");
    const { next } = capped.at(-1) as { readonly next: number | null };
    const rest = next === null ? [] : await found(run_id, `text=question&after=${next}`);
    expect([...capped, ...rest].filter(({ kind }) => kind === "match").length).toBe(2_000);
    expect((await get(`/evaluations/${run_id}/search`)).status).toBe(422);
    expect((await get(`/evaluations/${run_id}/search?field=info.a`)).status).toBe(422);
  });
});

const range = (from: number, to: number): number[] => Array.from({ length: to - from }, (_, index) => from + index);
