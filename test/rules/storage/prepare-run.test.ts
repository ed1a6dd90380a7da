import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { defineEnvironment } from "../../../src/environments/definition/definition.ts";
import { SingleTurnEnv } from "../../../src/environments/kinds/single-turn-env.ts";
import { INPUT_CHUNK_BYTES, INPUT_CHUNK_ROWS, MAX_WHOLE_ORDER_ROWS, PERMUTED_BYTES, PERMUTED_ROWS } from "../../../src/limits.ts";
import { PinnedOrder } from "../../../src/pinned-order.ts";
import { groupReward } from "../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { testEnvironment } from "../../../src/testing/index.ts";
import { z } from "../../../src/zod.ts";
import { environmentOf, prepared, questions as many } from "../../support/run/prepared-run.ts";

describe("a data set", () => {
  const definition = defineEnvironment({
    id: "named",
    version: "1.0.0",
    description: "",
    args: z.object({}),
    dataset: { dataset: "openai/gsm8k", config: "main", split: "test" },
    load: () => environmentOf(["q"]),
  });
  const nameOf = async (args: JsonObject): Promise<string | null | undefined> =>
    (await prepared(testEnvironment(definition, { args }) as SingleTurnEnv)).report.dataset_name;

  it("is reported by what it is called: id and what was chosen of it, an address without what may be secret in it", async () => {
    expect(await nameOf({})).toBe("openai/gsm8k (main, test)");
    expect(await nameOf({ dataset_split: "train" })).toBe("openai/gsm8k (main, train)");
    expect(await nameOf({ dataset: "squad" })).toBe("squad");
    expect(await nameOf({ dataset: "https://data.example/rows.jsonl?signature=abc#x" })).toBe("https://data.example/rows.jsonl");
    // Whoever uploaded it knows.
    expect(await nameOf({ dataset: `sha256:${"a".repeat(64)}` })).toBeNull();
    expect((await prepared(environmentOf(["q"]))).report.dataset_name).toBeNull();
  });
});

describe("a shuffled run", () => {
  const drawn = async (count: number, seed: number): Promise<string[]> => {
    const { objects } = await prepared(environmentOf(many(100)), { count, more: { shuffle_seed: seed } });
    const lines = [...objects.values()].flatMap((bytes) => new TextDecoder().decode(bytes).trimEnd().split("\n"));
    return lines.map((line) => String((JSON.parse(line) as { example_id: number }).example_id));
  };

  it("takes its examples from all of the data set, as its seed decides, in the order of the data set", async () => {
    const first = await drawn(10, 1);
    expect(first).toHaveLength(10);
    expect(first).toEqual([...first].sort((a, b) => Number(a) - Number(b)));
    expect(Math.max(...first.map(Number))).toBeGreaterThan(20);
    expect(await drawn(10, 1)).toEqual(first);
    expect(await drawn(10, 2)).not.toEqual(first);
    const all = Array.from({ length: 100 }, (_, index) => String(index));
    expect(await drawn(-1, 1)).toEqual(all);
    expect(await drawn(500, 1)).toEqual(all);
  });
});

describe("inputs that are pinned in an order of their own", () => {
  const idsOf = ({ reports, objects }: Awaited<ReturnType<typeof prepared>>): number[] =>
    reports
      .flatMap(({ chunks }) => chunks)
      .sort((a, b) => a.lo - b.lo)
      .flatMap(({ digest }) =>
        new TextDecoder()
          .decode(objects.get(`runs/0000abcd/inputs/${digest}.jsonl`))
          .trimEnd()
          .split("\n"),
      )
      .map((line) => (JSON.parse(line) as { example_id: number }).example_id);
  const more = { order_seed: 5 };

  it("keep their example ids and the digest of the data set, and stand as the seed says", async () => {
    const permuted = await prepared(environmentOf(many(1_000)), { more });
    const { report } = await prepared(environmentOf(many(1_000)));
    const order = new PinnedOrder(5, permuted.report.permuted ?? []);
    expect(permuted.report.permuted).toEqual([{ lo: 0, hi: 1_000 }]);
    expect(idsOf(permuted)).toEqual(many(1_000).map((_, position) => order.rankOf(position)));
    expect(idsOf(permuted)).not.toEqual(many(1_000).map((_, position) => position));
    expect(permuted.report.digest).toBe(report.digest);
    expect([report.permuted, permuted.report.count]).toEqual([undefined, 1_000]);
  });

  it("are told part by part, each permuted by itself, and those of a growth behind them", async () => {
    const all = await prepared(environmentOf(many(PERMUTED_ROWS + 10)), { more, inParts: true });
    expect(all.reports.map(({ permuted, count, more: further = false }) => [permuted, count, further])).toEqual([
      [[{ lo: 0, hi: PERMUTED_ROWS }], PERMUTED_ROWS, true],
      [[{ lo: PERMUTED_ROWS, hi: PERMUTED_ROWS + 10 }], PERMUTED_ROWS + 10, false],
    ]);
    const first = all.reports[0]?.digest ?? "";
    const grown = await prepared(environmentOf(many(PERMUTED_ROWS + 10)), { more, pinned: { count: PERMUTED_ROWS, digest: first }, inParts: true });
    expect([grown.report.permuted, grown.report.chunks, grown.report.digest]).toEqual([all.report.permuted, all.report.chunks, all.report.digest]);
  });

  it("are cut where a part has so many bytes", async () => {
    const { report } = await prepared(environmentOf(many(100, "漢".repeat(100_000))), { more });
    const parts = report.permuted ?? [];
    expect(parts.length).toBeGreaterThan(3);
    const bytesOf = ({ lo, hi }: { lo: number; hi: number }) =>
      report.chunks.filter((chunk) => chunk.lo >= lo && chunk.hi <= hi).reduce((sum, { bytes }) => sum + bytes, 0);
    for (const part of parts) expect(bytesOf(part)).toBeLessThanOrEqual(PERMUTED_BYTES + 100);
    expect(parts.reduce((sum, part) => sum + bytesOf(part), 0)).toBe(report.chunks.reduce((sum, { bytes }) => sum + bytes, 0));
  });

  it("are one order where that is asked for, up to what is held", async () => {
    const { reports } = await prepared(environmentOf(many(PERMUTED_ROWS + 10)), { more, inParts: true, whole: true });
    expect(reports.map(({ permuted }) => permuted)).toEqual([[{ lo: 0, hi: PERMUTED_ROWS + 10 }]]);
    await expect(prepared(environmentOf(many(MAX_WHOLE_ORDER_ROWS + 1)), { more, whole: true })).rejects.toMatchObject({
      code: "dataset_unreadable",
      message: expect.stringContaining(`at most ${MAX_WHOLE_ORDER_ROWS} examples`),
    });
  });
});

describe("pinned inputs", () => {
  it("are cut into chunks of so many rows, each under the digest of its bytes", async () => {
    const { report, objects } = await prepared(environmentOf(many(2 * INPUT_CHUNK_ROWS + 1)));
    expect(report.chunks.map(({ lo, hi }) => [lo, hi])).toEqual([
      [0, INPUT_CHUNK_ROWS],
      [INPUT_CHUNK_ROWS, 2 * INPUT_CHUNK_ROWS],
      [2 * INPUT_CHUNK_ROWS, 2 * INPUT_CHUNK_ROWS + 1],
    ]);
    expect([...objects].map(([key, bytes]) => [key, bytes.byteLength])).toEqual(
      report.chunks.map(({ digest, bytes }) => [`runs/0000abcd/inputs/${digest}.jsonl`, bytes]),
    );
    const lines = [...objects.values()].flatMap((bytes) => new TextDecoder().decode(bytes).trimEnd().split("\n"));
    expect(lines.map((line) => (JSON.parse(line) as { example_id: number }).example_id)).toEqual(many(2 * INPUT_CHUNK_ROWS + 1).map((_, index) => index));
  });

  it.each([
    ["plain letters", "x"],
    ["letters of three bytes", "漢"],
  ])("are cut into chunks of so many bytes, of %s", async (_, letter) => {
    const { report } = await prepared(environmentOf(many(20, letter.repeat(100_000))));
    expect(report.chunks.length).toBeGreaterThan(1);
    for (const chunk of report.chunks) expect(chunk.bytes).toBeLessThanOrEqual(INPUT_CHUNK_BYTES);
    expect(report.chunks.at(-1)?.hi).toBe(20);
  });

  it("are told part by part where the run begins with the first, in the same chunks and with the same digest", async () => {
    const rows = 40 * INPUT_CHUNK_ROWS + 7;
    const whole = await prepared(environmentOf(many(rows)));
    const { reports, report, objects } = await prepared(environmentOf(many(rows)), { inParts: true });
    expect(whole.reports.length).toBe(1);
    expect(reports.map(({ count, more }) => [count, more])).toEqual([
      [16 * INPUT_CHUNK_ROWS, true],
      [32 * INPUT_CHUNK_ROWS, true],
      [rows, undefined],
    ]);
    expect(reports.flatMap(({ chunks }) => chunks)).toEqual(whole.report.chunks);
    expect([report.digest, [...objects.keys()]]).toEqual([whole.report.digest, [...whole.objects.keys()]]);
    const [first] = reports;
    const begun = await prepared(environmentOf(many(rows)), { pinned: { count: first?.count ?? 0, digest: first?.digest ?? "" }, inParts: true });
    expect(begun.reports.flatMap(({ chunks }) => chunks)).toEqual(whole.report.chunks.slice(16));
  });

  it("hold a row that is larger than a chunk alone", async () => {
    const { report } = await prepared(environmentOf(["small", "y".repeat(2 * INPUT_CHUNK_BYTES), "small"]));
    expect(report.chunks.map(({ lo, hi }) => [lo, hi])).toEqual([
      [0, 1],
      [1, 2],
      [2, 3],
    ]);
  });

  it("have a digest that a longer data set with the same beginning confirms, and any other does not", async () => {
    const first = (await prepared(environmentOf(many(300)))).report;
    const grown = (await prepared(environmentOf(many(700)), { pinned: { count: 300, digest: first.digest } })).report;
    expect(grown).toMatchObject({ count: 700, chunks: [{ lo: 300, hi: 700 }] });
    expect(grown.digest).not.toBe(first.digest);
    const changed = prepared(environmentOf([...many(299), "other", ...many(400)]), { pinned: { count: 300, digest: first.digest } });
    await expect(changed).rejects.toMatchObject({ code: "dataset_changed" });
    await expect(prepared(environmentOf(many(299)), { pinned: { count: 300, digest: first.digest } })).rejects.toMatchObject({ code: "dataset_changed" });
  });

  it("are refused where there are fewer than before, of a run and of a folder, in words that name both numbers", async () => {
    const { digest } = (await prepared(environmentOf(many(12)))).report;
    const adopt = { results: "a".repeat(64), dataset_digest: null, num_examples: 12 };
    for (const [what, task] of [
      ["run", { pinned: { count: 12, digest } }],
      ["results folder", { adopt }],
      ["results folder", { adopt: { ...adopt, dataset_digest: digest } }],
    ] as const) {
      for (const count of [-1, 12, 20]) {
        await expect(prepared(environmentOf(many(8)), { ...task, count })).rejects.toMatchObject({
          code: "dataset_changed",
          message: `num_examples: the ${what} has 12, the data set now 8.`,
        });
      }
    }
  });

  it("are read once to see that a smaller folder is of the same data, whose size it says", async () => {
    const { digest } = (await prepared(environmentOf(many(12)))).report;
    let read = 0;
    const counted = (): SingleTurnEnv =>
      environmentOf({
        *[Symbol.iterator]() {
          read++;
          yield* many(600);
        },
      });
    const adopt = { results: "a".repeat(64), dataset_digest: digest };
    await prepared(counted(), { adopt: { ...adopt, num_examples: 12 } });
    expect(read).toBe(1);
    // A folder of before does not say it.
    await prepared(counted(), { adopt });
    expect(read).toBe(3);
    await expect(prepared(counted(), { adopt: { ...adopt, dataset_digest: "0".repeat(64), num_examples: 12 } })).rejects.toMatchObject({
      code: "dataset_changed",
    });
  });

  it("are the first so many of what there is", async () => {
    expect((await prepared(environmentOf(many(10)), { count: 4 })).report.count).toBe(4);
    expect((await prepared(environmentOf(many(10)), { count: 40 })).report.count).toBe(10);
  });
});

describe("an environment is refused before the first model call", () => {
  const scores = (names: readonly string[]): Rubric => new Rubric(names.map((name) => ({ name, fn: () => 1 })));
  const question = ["q"];

  it("when a metric would overwrite a field of the rows", async () => {
    await expect(prepared(environmentOf(question, scores(["reward"])))).rejects.toMatchObject({ code: "metric_name_reserved" });
  });

  it("when it has more metrics than fit", async () => {
    const fits = await prepared(environmentOf(question, scores(many(63, "m"))));
    expect(fits.report.count).toBe(1);
    await expect(prepared(environmentOf(question, scores(many(64, "m"))))).rejects.toMatchObject({ code: "environment_failed" });
  });

  it("when it scores rollouts together and is asked to score them one by one", async () => {
    const together = new Rubric([{ name: "best", fn: groupReward(() => [1]) }]);
    await expect(prepared(environmentOf(question, together), { independent: true })).rejects.toMatchObject({ code: "environment_failed" });
  });

  it("when it breaks while it makes its examples, and says so", async () => {
    const broken = new SingleTurnEnv({
      // biome-ignore lint/correctness/useYield: it breaks before its first row
      async *dataset() {
        throw new TypeError("cannot read properties of undefined");
      },
    });
    await expect(prepared(broken)).rejects.toMatchObject({
      code: "environment_failed",
      message: expect.stringContaining("cannot read properties of undefined"),
    });
  });
});
