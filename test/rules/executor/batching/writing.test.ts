import { describe, expect, it } from "vitest";
import { requestsKey } from "../../../../r2-layout/keys.ts";
import { inProcess } from "../../../../src/environments/hosted/in-process.ts";
import type { HostedEnvironment } from "../../../../src/environments/hosted/hosted-environment.ts";
import { SingleTurnEnv } from "../../../../src/environments/kinds/single-turn-env.ts";
import { holdKey } from "../../../../src/errors/masking.ts";
import { BATCH_COLLECT_BYTES, BATCH_JOB_BYTES, BATCH_WRITE_BYTES, INPUT_CACHE_BYTES, ISOLATE_BYTES } from "../../../../src/limits.ts";
import type { Message, State } from "../../../../src/rollouts/types.ts";
import { Rubric } from "../../../../src/rubrics/rubric.ts";
import { answered, BatchedRun, completion } from "../../../support/batching/batched-run.ts";
import { context, define } from "../../../support/walled/both.ts";
import { walled } from "../../../support/walled/walled.ts";

interface Seen {
  scored: number;
  cleaned: number;
  played: number;
  open: number;
  most: number;
}

/** A single-turn environment that notes what becomes of its rollouts. */
function environment(seen: Seen, changes: { readonly setup?: (state: State) => void; readonly ask?: (state: State) => string } = {}): SingleTurnEnv {
  const score = (): number => ++seen.scored;
  const env = new (class extends SingleTurnEnv {
    override async setupState(state: State): Promise<void> {
      seen.played++;
      seen.most = Math.max(seen.most, ++seen.open);
      changes.setup?.(state);
    }
    override async getPromptMessages(state: State): Promise<Message[]> {
      const text = changes.ask?.(state);
      return text === undefined ? await super.getPromptMessages(state) : [{ role: "user", content: text }];
    }
  })({ dataset: async function* () {}, rubric: new Rubric([{ name: "score", fn: score }]) });
  env.onCleanup("close", () => {
    seen.cleaned++;
    seen.open--;
  });
  return env;
}

const nothing = (): Seen => ({ scored: 0, cleaned: 0, played: 0, open: 0, most: 0 });
const all = (hi: number) => [{ lo: 0, hi }];

const kinds: readonly (readonly [string, (load: () => SingleTurnEnv) => Promise<HostedEnvironment>])[] = [
  ["in the executor's isolate", async (load) => inProcess(load())],
  ["behind a wall", async (load) => await walled(define(load), {}).offered.load({}, context)],
];

describe("requests that are written for a batch", () => {
  it.each(kinds)("are the first of each rollout, of an environment %s: nothing is sent, scored or kept, and what rollouts hold is let go", async (_, host) => {
    const seen = nothing();
    const run = new BatchedRun(await host(() => environment(seen)), 5);
    const told = await run.write(all(5));
    expect(told).toMatchObject({ kind: "wrote", job: 1, requests: 10, units: [{ lo: 0, hi: 5 }], ready: [] });
    const lines = run.written(told.object);
    expect(lines.map(({ custom_id }) => custom_id.replace(/-[0-9a-f]{16}$/, ""))).toEqual(
      [0, 1, 2, 3, 4].flatMap((unit) => [`0badcafe-u${unit}-r0`, `0badcafe-u${unit}-r1`]),
    );
    expect(lines[4]?.body).toMatchObject({ model: run.grant.config.model, messages: [{ role: "user", content: "2+2" }] });
    expect(told.bytes).toBe(run.store.objects.get([...run.store.objects.keys()].find((key) => key.endsWith(".requests.jsonl")) ?? "")?.byteLength);
    // The first example was played twice, to see that it asks the same.
    expect(seen).toMatchObject({ scored: 0, played: 12, cleaned: 12, open: 0 });
    expect(run.bytes.held).toBe(0);
  });

  it.each(kinds)("leave out rollouts that end before they ask, of an environment %s: their example is played like any other", async (_, host) => {
    const seen = nothing();
    const setup = ({ example_id }: State): void => {
      if (example_id === 1) throw new Error("no such file");
    };
    const run = new BatchedRun(await host(() => environment(seen, { setup })), 3);
    expect(await run.write(all(3))).toMatchObject({ requests: 4, units: [{ lo: 0, hi: 3 }], ready: [{ lo: 1, hi: 2 }] });
    expect(seen).toMatchObject({ scored: 0, open: 0 });
  });

  it("are none of an environment that asks something else each time it is played: that is said by name, before anything is sent", async () => {
    let draws = 0;
    const run = new BatchedRun(inProcess(environment(nothing(), { ask: () => `draw ${++draws}` })), 2);
    await expect(run.write(all(2))).rejects.toMatchObject({
      code: "environment_failed",
      message: expect.stringContaining("asks the model something else each time"),
    });
    expect(run.store.names.filter((name) => name.includes("requests"))).toEqual([]);
    expect(run.bytes.held).toBe(0);
  });

  it("are of whole examples, as many as the provider takes, and of a single larger one as many as there is room for", async () => {
    const run = new BatchedRun(inProcess(environment(nothing())), 4);
    expect(await run.write(all(4), { requests: 5, bytes: 1e9 })).toMatchObject({ requests: 4, units: [{ lo: 0, hi: 2 }] });
    const { bytes } = await run.write(all(1));
    expect(await run.write(all(4), { requests: 50, bytes: 2 * bytes + 1 })).toMatchObject({ requests: 4, units: [{ lo: 0, hi: 2 }] });
    expect(await run.write(all(4), { requests: 1, bytes: 1e9 })).toMatchObject({ requests: 1, units: [{ lo: 0, hi: 1 }], ready: [], cut: true });
    expect(await run.write(all(4), { requests: 2, bytes: 1e9 })).not.toHaveProperty("cut");
    expect(await run.write(all(4), { requests: 9, bytes: 10 })).toMatchObject({
      requests: 0,
      object: null,
      units: [{ lo: 0, hi: 4 }],
      ready: [{ lo: 0, hi: 4 }],
    });
  });

  it("go on where the plan says, and end with the slice: what is written by then is a job", async () => {
    const run = new BatchedRun(inProcess(environment(nothing())), 200);
    expect(
      await run.write([
        { lo: 3, hi: 5 },
        { lo: 9, hi: 10 },
      ]),
    ).toMatchObject({
      requests: 6,
      units: [
        { lo: 3, hi: 5 },
        { lo: 9, hi: 10 },
      ],
    });
    run.slice.isOver = true;
    const { requests, units } = await run.write(all(200));
    expect(units).toEqual([{ lo: 0, hi: requests / 2 }]);
    expect(requests).toBeLessThanOrEqual(32);
    expect(requests).toBeGreaterThan(0);
  });

  it("have no more rollouts open than a few, whatever the size of the job, and fewer where the environment says so", async () => {
    const seen = nothing();
    const run = new BatchedRun(inProcess(environment(seen)), 400);
    expect(await run.write(all(400))).toMatchObject({ requests: 800 });
    expect(seen.most).toBeLessThanOrEqual(32);
    expect(seen.most).toBeGreaterThan(8);
    const few = nothing();
    const env = environment(few);
    env.setConcurrency(1);
    await new BatchedRun(inProcess(env), 20).write(all(20));
    expect(few.most).toBe(2);
    const many = nothing();
    expect(await new BatchedRun(inProcess(environment(many)), 1, { rollouts_per_example: 100 }).write(all(1))).toMatchObject({ requests: 100 });
    expect(many.most).toBeLessThanOrEqual(32);
  });

  it("leave out what an earlier job has answered, and ask again what it has lost, or what is another question now", async () => {
    const run = new BatchedRun(inProcess(environment(nothing())), 2);
    const first = await run.write(all(2));
    const [one, two, three, four] = run.written(first.object);
    if (!one || !two || !three || !four || first.object === null) throw new Error("four requests");
    const collected = await run.collect(first.object, [answered(two, completion("0")), answered(one, completion("0")), answered(three, completion("2"))]);
    expect(collected).toMatchObject({ counts: { answered: 3, failed: 0 }, lost: { missing: 1 }, ready: [{ lo: 0, hi: 1 }], again: [{ lo: 1, hi: 2 }] });
    const again = await run.write(all(2));
    expect(again).toMatchObject({ requests: 1, units: [{ lo: 0, hi: 2 }], ready: [{ lo: 0, hi: 1 }] });
    expect(run.written(again.object).map(({ custom_id }) => custom_id)).toEqual([four.custom_id]);
    // A refusal counts as an answer in its own generation of the run, and is asked again in the next.
    if (again.object === null) throw new Error("one request");
    await run.collect(again.object, [answered(four, { error: { message: "no" } }, 400)]);
    expect(await run.write(all(2))).toMatchObject({ requests: 0, ready: [{ lo: 0, hi: 2 }] });
    const known = run.jobs.map((job) => ({ ...job, earlier: true as const }));
    const resumed = await run.write(all(2), undefined, undefined, { known });
    expect(run.written(resumed.object).map(({ custom_id }) => custom_id)).toEqual([four.custom_id]);
  });

  it("leave out rollouts that are there: rows that stay, and what is generated", async () => {
    const seen = nothing();
    const run = new BatchedRun(inProcess(environment(seen)), 3, { rollouts_per_example: 3 });
    const place = { segment: "1-1-1", offset: 0, length: 10 };
    const redo = [
      { unit: 0, place, keep: [0, 2] },
      { unit: 1, place, keep: [0, 1, 2] },
    ];
    const told = await run.write(all(3), undefined, undefined, { first: false, redo, pieces: [{ unit: 2, ...place, rollouts: [1] }] });
    expect(told).toMatchObject({ requests: 3, ready: [{ lo: 1, hi: 2 }] });
    expect(run.written(told.object).map(({ custom_id }) => custom_id.slice("0badcafe-".length, "0badcafe-u0-r1".length))).toEqual(["u0-r1", "u2-r0", "u2-r2"]);
    expect(seen.played).toBe(3);
  });

  it("hold no secret: one that would is not written, and its rollout says why", async () => {
    holdKey("sk-team-9f3b2c1d");
    const run = new BatchedRun(inProcess(environment(nothing())), 2, {}, (unit) => (unit === 0 ? "use sk-team-9f3b2c1d" : "1+1"));
    expect(await run.write(all(2))).toMatchObject({ requests: 2, ready: [{ lo: 0, hi: 1 }] });
    const [row] = await run.rows(0, run.answers());
    expect(row).toMatchObject({ error: { error: "ModelError", error_chain_repr: expect.stringContaining("holds a secret") } });
  });

  it.each([50, 400])("take a bounded part of the memory of an isolate, as do their answers, whether there are %i examples or more", async (units) => {
    let most = 0;
    const setup = (): void => {
      most = Math.max(most, run.bytes.held);
    };
    const run = new BatchedRun(inProcess(environment(nothing(), { setup })), units, {}, (unit) => `${unit} ${"x".repeat(20_000)}`);
    const { object } = await run.write(all(units));
    expect(most).toBeGreaterThanOrEqual(BATCH_WRITE_BYTES);
    expect(most).toBeLessThanOrEqual(BATCH_WRITE_BYTES + INPUT_CACHE_BYTES);
    expect(run.store.objects.get(requestsKey("0badcafe", object ?? ""))?.byteLength).toBeLessThanOrEqual(BATCH_JOB_BYTES);
    expect(BATCH_WRITE_BYTES).toBeLessThanOrEqual(ISOLATE_BYTES / 2);
    expect(BATCH_COLLECT_BYTES).toBeLessThanOrEqual(ISOLATE_BYTES / 2);
    expect(run.bytes.held).toBe(0);
  });

  it("end at once when the executor is to stop, and leave nothing open", async () => {
    const seen = nothing();
    const stop = new AbortController();
    const setup = ({ example_id }: State): void => {
      if (example_id === 30) stop.abort(new Error("the invocation ends"));
    };
    const run = new BatchedRun(inProcess(environment(seen, { setup })), 100);
    await expect(run.write(all(100), undefined, stop.signal)).rejects.toThrow("the invocation ends");
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(seen).toMatchObject({ open: 0, scored: 0 });
    expect(run.bytes.held).toBe(0);
  });
});
