import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openRollouts } from "../../../../durable-objects/run/reading/open-rollouts.ts";
import { inputsKey } from "../../../../r2-layout/keys.ts";
import { sampleLines } from "../../../../src/cli/runs/eval-samples.ts";
import { KEEP_AGE_MS } from "../../../../src/limits.ts";
import { type GroupRewardContext, groupReward } from "../../../../src/rubrics/reward-function.ts";
import { Rubric } from "../../../../src/rubrics/rubric.ts";
import { env, length, Line } from "../../../support/run/executor-line.ts";
import { type Door, openDoor, viewFor } from "../../../support/door/fake-ports.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const most = groupReward(function most({ states }: GroupRewardContext) {
  return states.map(() => 1);
});
interface Sample {
  readonly example_id: number;
  readonly rollout_index: number;
  readonly reward: number | null;
  readonly open?: true;
  readonly completion: readonly { readonly content: string }[];
}

/** Of two examples of four rollouts, `answered` of them: those of which an example has not all are kept, and a door that shows the run. */
async function working(answered: number, rubric = new Rubric([length])) {
  const line = new Line({ units: 2, lanes: 8, rollouts: 4, environment: env(rubric) });
  line.next(answered);
  await vi.advanceTimersByTimeAsync(2 * KEEP_AGE_MS + 1_000);
  const { run } = line;
  if (run === undefined) throw new Error("there is no run");
  vi.useRealTimers();
  const config = run.ledger.config();
  const door = openDoor();
  const shown = door.run(config.run_id);
  shown.state = viewFor(config);
  for (const [key, object] of line.objects) door.store.objects.set(key, object);
  const inputs = [0, 1].map((unit) => `${JSON.stringify({ example_id: unit, prompt: [{ role: "user", content: `q${unit}` }], task: "t" })}\n`).join("");
  for (const { digest } of run.ledger.chunksIn({ lo: 0, hi: 2 })) door.store.objects.set(inputsKey(config.run_id, digest), new TextEncoder().encode(inputs));
  const rows = [...run.ledger.doneFrom(0)];
  shown.places = rows.map((done) => ({ ...done, rows: 4 }));
  const page = async (query: string): Promise<{ samples: Sample[]; total: number; has_more: boolean; open?: number }> => {
    const [, number = "1", limit = "100"] = /page=(\d+)&limit=(\d+)/.exec(query) ?? [];
    const skip = (Number(number) - 1) * Number(limit);
    const own = Math.max(0, Math.min(Number(limit), 4 * rows.length - skip));
    shown.open = openRollouts(run.ledger, Math.max(0, skip - 4 * rows.length), Number(limit) - own);
    return (await callTo(door, config.run_id, query)) as Awaited<ReturnType<typeof page>>;
  };
  return { page };
}

const callTo = async (door: Door, runId: string, query: string): Promise<unknown> => (await door.call("GET", `/evaluations/${runId}/samples${query}`)).json();
const named = ({ samples }: { samples: readonly Sample[] }) => samples.map(({ example_id, rollout_index, open }) => [example_id, rollout_index, open === true]);

describe("rollouts of examples that are not complete", () => {
  it("follow the rows of a run where they are asked for, as open, and count as samples there only", async () => {
    const { page } = await working(6);
    const closed = await page("");
    expect([named(closed), closed.total, closed.open]).toEqual([[0, 1, 2, 3].map((rollout) => [0, rollout, false]), 4, undefined]);
    const all = await page("?open=true");
    expect([named(all).slice(4), all.total, all.open, all.has_more]).toEqual([
      [
        [1, 0, true],
        [1, 1, true],
      ],
      6,
      2,
      false,
    ]);
    // Scored when they were generated, so that they have a reward; the row is whole.
    expect(all.samples[4]).toMatchObject({ reward: 5, completion: [{ role: "assistant", content: "xxxxx" }], prompt: [{ role: "user", content: "q1" }] });
  });

  it("are paged through with the rows", async () => {
    const { page } = await working(7);
    expect(named(await page("?page=2&limit=3&open=true"))).toEqual([
      [0, 3, false],
      [1, 0, true],
      [1, 1, true],
    ]);
    const last = await page("?page=3&limit=3&open=true");
    expect([named(last), last.total, last.has_more]).toEqual([[[1, 2, true]], 7, false]);
  });

  it("have no reward before their group is judged", async () => {
    const { page } = await working(3, new Rubric([most]));
    const { samples } = await page("?open=true");
    expect(samples.map(({ reward, open }) => [reward, open])).toEqual([
      [null, true],
      [null, true],
      [null, true],
    ]);
    const lines = sampleLines({ samples: samples as never, total: 3, has_more: false }, 100);
    expect(lines[0]).toContain("STATE");
    expect(lines[1]).toMatch(/ 0 +0 +- +open /);
  });
});
