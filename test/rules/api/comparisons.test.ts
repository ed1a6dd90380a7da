import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import { MAX_COMPARED_BYTES } from "../../../src/limits.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import { comparedExamplesAnswer, comparisonAnswer } from "../../../src/api/comparisons/comparison-schemas.ts";
import { CONFIG, type Door, openDoor, viewFor } from "../../support/door/fake-ports.ts";

const A = "0000aaaa";
const B = "0000bbbb";
const { env_id, model } = CONFIG;
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** A settled run with one rollout an example. */
function settle(door: Door, id: string, rewards: readonly number[], own: object = {}): void {
  const config = { ...CONFIG, run_id: id };
  door.run(id).state = viewFor(config, { phase: "settled", totals: { ...emptyTotals(), rollouts: rewards.length } });
  const rows = rewards.map((reward, i) => ({
    example_id: i,
    prompt: `question ${i}`,
    answer: "a",
    reward,
    error: null,
    metrics: { length: i + reward },
    info: { topic: `t${i % 3}`, passage: `p${i % 2}` },
    rollout_index: 0,
  }));
  door.store.objects.set(outputKey(env_id, model, id, "results.jsonl"), bytes(rows.map((row) => `${JSON.stringify(row)}\n`).join("")));
  const metadata = {
    env_id,
    model,
    num_examples: rewards.length,
    rollouts_per_example: 1,
    edgewise: { run_id: id, status: "COMPLETED", env_digest: `v2:${"a".repeat(64)}`, ...own },
  };
  door.store.objects.set(outputKey(env_id, model, id, "metadata.json"), bytes(JSON.stringify(metadata)));
}

const compare = async (door: Door, body: JsonObject, path = "/comparisons") => {
  const response = await door.call("POST", path, body);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

describe("POST /comparisons", () => {
  it("gives what the command gives as JSON", async () => {
    const door = openDoor();
    settle(door, A, [1, 1, 1, 1, 1, 1, 1, 0, 0, 0]);
    settle(door, B, [0, 0, 0, 0, 0, 0, 1, 0, 0, 0]);
    const { status, body } = await compare(door, { runs: [A, B], show: 1, metrics: [] });
    expect(status).toBe(200);
    expect(comparisonAnswer.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      baseline: { run: A, examples: 10 },
      comparisons: [
        {
          candidate: { run: B },
          joined: 10,
          worse: 6,
          warnings: [],
          metrics: [{ metric: "reward", test: "mcnemar", difference: expect.closeTo(-0.6, 12), p: expect.closeTo(2 / 64, 12) }],
          regressions: [{ example_id: 0, rows: [1, 1] }],
        },
      ],
    });
  });

  it("counts examples as the runs were created to, where all were the same way, unless another key is asked for", async () => {
    const door = openDoor();
    settle(door, A, [1, 1, 1, 0, 0, 1], { cluster_by: "topic" });
    settle(door, B, [0, 1, 1, 0, 1, 1], { cluster_by: "topic" });
    const groupsOf = async (asked: JsonObject) => {
      const { cluster_by, comparisons } = comparisonAnswer.parse((await compare(door, { runs: [A, B], metrics: [], ...asked })).body);
      return [cluster_by, comparisons[0]?.metrics[0]?.clusters];
    };
    expect(await groupsOf({})).toEqual(["topic", 3]);
    expect(await groupsOf({ cluster_by: "passage" })).toEqual(["passage", 2]);
    settle(door, B, [0, 1, 1, 0, 1, 1]);
    expect(await groupsOf({})).toEqual([undefined, undefined]);
  });

  it("tells of rows that are missing in storage, and takes them for none of a run that made none", async () => {
    const door = openDoor();
    settle(door, A, [1, 0, 1]);
    settle(door, B, []);
    door.store.objects.delete(outputKey(env_id, model, B, "results.jsonl"));
    expect((await compare(door, { runs: [A, B] })).body).not.toMatchObject({ code: "storage_unavailable" });
    settle(door, B, [1, 0, 1]);
    door.store.objects.delete(outputKey(env_id, model, B, "results.jsonl"));
    const { status, body } = await compare(door, { runs: [A, B] });
    expect([status, JSON.stringify(body)]).toEqual([503, expect.stringContaining(`The results of run ${B} are missing in storage.`)]);
  });

  it("names metrics that are the reward under another name, and has them not in the table", async () => {
    const door = openDoor();
    const copy = (rewards: readonly number[]) =>
      rewards.map((reward, i) => JSON.stringify({ example_id: i, prompt: `${i}`, reward, metrics: { exact: reward, length: i } }));
    for (const [id, rewards] of [
      [A, [1, 0, 1, 1]],
      [B, [0, 0, 1, 0]],
    ] as const) {
      settle(door, id, rewards);
      door.store.objects.set(outputKey(env_id, model, id, "results.jsonl"), bytes(`${copy(rewards).join("\n")}\n`));
    }
    const { comparisons } = comparisonAnswer.parse((await compare(door, { runs: [A, B] })).body);
    expect(comparisons.map(({ metrics, same_as_reward }) => [metrics.map(({ metric }) => metric), same_as_reward])).toEqual([
      [["reward", "length"], ["exact"]],
    ]);
  });

  it("says of which run which row cannot be read, rather than compare the others without it", async () => {
    const door = openDoor();
    settle(door, A, [1, 0, 1]);
    settle(door, B, [1, 0, 1]);
    const key = outputKey(env_id, model, B, "results.jsonl");
    const [first, ...others] = new TextDecoder().decode(door.store.objects.get(key)).split("\n");
    door.store.objects.set(key, bytes([first, '{"example_id":1,', ...others.slice(1)].join("\n")));
    const { status, body } = await compare(door, { runs: [A, B] });
    expect([status, body]).toEqual([422, { code: "row_unreadable", detail: expect.stringMatching(`^Row 2 of run ${B} cannot be read: `) }]);
  });

  it("refuses what is not comparable, not settled, not there, or too large", async () => {
    const door = openDoor();
    settle(door, A, [1, 0, 1]);
    settle(door, B, [1, 0, 1], { env_digest: `v2:${"b".repeat(64)}` });
    const refused = await compare(door, { runs: [A, B] });
    expect([refused.status, refused.body]).toEqual([
      422,
      { code: "not_comparable", detail: expect.stringContaining("not comparable: "), hint: expect.stringContaining("say so: accept_code_change.") },
    ]);
    expect((await compare(door, { runs: [A, B], accept_code_change: true })).status).toBe(200);
    expect((await compare(door, { runs: [A] })).status).toBe(422);
    expect((await compare(door, { runs: [A, "../../x"] })).status).toBe(422);
    expect((await compare(door, { runs: [A, "0000cccc"] })).status).toBe(404);
    door.run(B).state = viewFor({ ...CONFIG, run_id: B }, { phase: "open" });
    expect((await compare(door, { runs: [A, B] })).status).toBe(409);
    settle(door, B, [1, 0, 1]);
    const { size } = door.store;
    door.store.size = async (key) => (key.includes(B) ? MAX_COMPARED_BYTES : await size.call(door.store, key));
    expect((await compare(door, { runs: [A, B] })).body).toMatchObject({ detail: [{ msg: expect.stringContaining("512 MiB") }] });
  });
});

describe("POST /comparisons/examples", () => {
  const page = async (door: Door, body: JsonObject) => {
    const answer = await compare(door, body, "/comparisons/examples");
    expect(answer.status, JSON.stringify(answer.body)).toBe(200);
    return comparedExamplesAnswer.parse(answer.body);
  };
  const scores = fc.array(fc.constantFrom(0, 0.25, 0.5, 1), { minLength: 1, maxLength: 24 });

  it("gives pages that join to the whole, in every order, with the counts and the order of the comparison itself", async () => {
    await fc.assert(
      fc.asyncProperty(
        scores,
        scores,
        fc.constantFrom("worst", "best", "id"),
        fc.constantFrom("worse", "better", "different", "all"),
        fc.integer({ min: 1, max: 7 }),
        async (first, second, order, only, limit) => {
          const door = openDoor();
          settle(door, A, first);
          settle(door, B, second);
          const asked = { runs: [A, B], order, only };
          const whole = await page(door, { ...asked, limit: 500 });
          const pages = [];
          for (let offset = 0; offset < whole.total; offset += limit) pages.push(...(await page(door, { ...asked, offset, limit })).examples);
          expect(pages).toEqual(whole.examples);
          expect(whole.total).toBe(pages.length);
          const [told] = comparisonAnswer.parse((await compare(door, { runs: [A, B], show: 100 })).body).comparisons;
          const { worse, better, equal, unscored, missing } = whole;
          expect({ worse, better, equal, unscored, missing }).toEqual({
            worse: told?.worse,
            better: told?.better,
            equal: told?.equal,
            unscored: told?.unscored,
            missing: told?.only_baseline,
          });
          if (only === "all") expect(whole.total).toBe(first.length);
          const shown = whole.examples.map(([one, two]) => ({
            example_id: one?.example_id,
            rows: [one?.row, two?.row],
            baseline: one?.mean,
            candidate: two?.mean,
            difference: (two?.mean ?? 0) - (one?.mean ?? 0),
          }));
          if (order === "worst" && only === "worse") expect(shown).toEqual(told?.regressions);
          if (order === "best" && only === "better") expect(shown).toEqual(told?.improvements);
          if (order === "id")
            expect(shown.map(({ example_id }) => example_id)).toEqual(shown.map(({ example_id }) => example_id).toSorted((x, y) => (x ?? 0) - (y ?? 0)));
        },
      ),
      { numRuns: 60 },
    );
  });

  it("holds several runs against the baseline, ordered by the one that is named, by the metric that is named", async () => {
    const door = openDoor();
    const C = "0000cccc";
    settle(door, A, [1, 1, 1, 0]);
    settle(door, B, [0, 1, 1, 1]);
    settle(door, C, [1, 1, 0]);
    const asked = { runs: [A, B, C] };
    const first = await page(door, { ...asked, only: "worse" });
    expect([first.candidate, first.runs, first.examples.map((cells) => cells.map((cell) => cell?.mean ?? null))]).toEqual([B, [A, B, C], [[1, 0, 1]]]);
    const second = await page(door, { ...asked, candidate: C });
    expect([second.worse, second.missing, second.examples.map((cells) => cells.map((cell) => cell?.mean ?? null))]).toEqual([
      1,
      1,
      [
        [1, 1, 0],
        [1, 0, 1],
        [1, 1, 1],
        [0, 1, null],
      ],
    ]);
    const length = await page(door, { ...asked, metric: "length", only: "better", order: "best" });
    expect(length.examples[0]?.map((cell) => cell?.mean ?? null)).toEqual([3, 4, null]);
    const wrongs: readonly JsonObject[] = [{ metric: "heigth" }, { candidate: A }, { candidate: "x" }, { unpaired: true }, { limit: 501 }, { order: "worse" }];
    for (const wrong of wrongs) expect((await compare(door, { ...asked, ...wrong }, "/comparisons/examples")).status, JSON.stringify(wrong)).toBe(422);
    expect((await compare(door, { ...asked, metric: "heigth" }, "/comparisons/examples")).body).toMatchObject({
      detail: [{ loc: ["body", "metric"], msg: expect.stringContaining("reward, length") }],
    });
  });

  it("names the place of an example in the results, where its rollouts have their addresses, and none where rows are missing", async () => {
    const door = openDoor();
    const placed = (id: string, rewards: readonly number[], planned: { readonly examples: number; readonly rollouts: number }): void => {
      settle(door, id, rewards);
      const config = { ...CONFIG, run_id: id, rollouts_per_example: planned.rollouts };
      const units = { total: planned.examples, done: planned.examples, open: 0, pending: 0 };
      door.run(id).state = viewFor(config, { phase: "settled", units, totals: { ...emptyTotals(), rollouts: rewards.length } });
    };
    const places = async () => (await page(door, { runs: [A, B], order: "id" })).examples.map((cells) => cells.map((cell) => cell?.place ?? null));
    placed(A, [1, 0, 1], { examples: 3, rollouts: 1 });
    placed(B, [1, 1, 1], { examples: 3, rollouts: 1 });
    expect(await places()).toEqual([0, 1, 2].map((place) => [place, place]));
    // Of four planned examples one has no row, and it may be any.
    placed(B, [1, 1, 1], { examples: 4, rollouts: 1 });
    expect(await places()).toEqual([0, 1, 2].map((place) => [place, null]));
    placed(B, [1, 1, 1], { examples: 3, rollouts: 2 });
    expect(await places()).toEqual([0, 1, 2].map((place) => [place, null]));
  });

  it("reads rows once in a minute, and anew where they are others, or the run is gone", async () => {
    const door = openDoor();
    const reads = () => door.store.reads.filter((read) => read.includes("results.jsonl")).length;
    const digest = (letter: string) => ({ rows_digest: { rows: 3, sha256: letter.repeat(64), marks: [] } });
    settle(door, A, [1, 0, 1], digest("a"));
    settle(door, B, [0, 0, 1], digest("b"));
    expect((await page(door, { runs: [A, B] })).worse).toBe(1);
    await page(door, { runs: [A, B], order: "id", offset: 1, limit: 1 });
    await compare(door, { runs: [B, A] });
    expect(reads()).toBe(2);
    settle(door, B, [0, 0, 0], digest("c"));
    expect([(await page(door, { runs: [A, B] })).worse, reads()]).toEqual([2, 3]);
    settle(door, B, [1, 0, 1]);
    expect([(await page(door, { runs: [A, B] })).worse, (await page(door, { runs: [A, B] })).worse, reads()]).toEqual([0, 0, 5]);
    settle(door, B, [0, 0, 1], digest("b"));
    door.run(B).state = null;
    expect((await compare(door, { runs: [A, B] }, "/comparisons/examples")).status).toBe(404);
  });

  it("is refused as the comparison is", async () => {
    const door = openDoor();
    settle(door, A, [1, 0, 1]);
    for (const spoil of [
      () => settle(door, B, [1, 0, 1], { env_digest: `v2:${"b".repeat(64)}` }),
      () => settle(door, B, []),
      () => {
        settle(door, B, [1, 0, 1]);
        door.run(B).state = viewFor({ ...CONFIG, run_id: B }, { phase: "open" });
      },
      () => {
        door.run(B).state = null;
      },
    ]) {
      spoil();
      const [one, other] = [await compare(door, { runs: [A, B] }), await compare(door, { runs: [A, B] }, "/comparisons/examples")];
      expect(other).toEqual(one);
      expect(one.status).toBeGreaterThanOrEqual(400);
    }
  });
});
