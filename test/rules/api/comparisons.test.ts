import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../src/config/plan/run-config.ts";
import { outputKey } from "../../../r2-layout/keys.ts";
import { MAX_COMPARED_BYTES } from "../../../src/limits.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import { comparisonAnswer } from "../../../src/api/comparisons/comparison-schemas.ts";
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

const compare = async (door: Door, body: JsonObject) => {
  const response = await door.call("POST", "/comparisons", body);
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

  it("refuses what is not comparable, not settled, not there, or too large", async () => {
    const door = openDoor();
    settle(door, A, [1, 0, 1]);
    settle(door, B, [1, 0, 1], { env_digest: `v2:${"b".repeat(64)}` });
    const refused = await compare(door, { runs: [A, B] });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([422, expect.stringMatching(/not comparable: .*accept_code_change/)]);
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
