import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import type { HostedEnvironment } from "../../../src/environments/hosted/hosted-environment.ts";
import { inProcess } from "../../../src/environments/hosted/in-process.ts";
import { storedOf } from "../../../src/environments/unit/stored-rollout.ts";
import { rolloutFailure } from "../../../src/rollouts/failure.ts";
import { createState } from "../../../src/rollouts/state/state.ts";
import { stateOfGivenRow } from "../../../src/rollouts/state/given-state.ts";
import type { RolloutInput, State } from "../../../src/rollouts/types.ts";
import { Rubric } from "../../../src/rubrics/rubric.ts";
import { env, kept, Line, NEVER } from "../../support/run/executor-line.ts";
import { metadataOf } from "../../../durable-objects/run/reading/run-metadata.ts";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { linesAt } from "../../../r2-layout/segment.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const R = 16;
const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);

/** A row as Python writes it: of what the model said, or of what it ended in. */
const rowOf = ({ example_id }: RolloutInput, said: string, error = false): string =>
  `{"example_id": ${example_id}, "prompt": [{"role": "user", "content": "q"}], "completion": [{"role": "assistant", "content": "${said}"}], "reward": ${error ? "0.0" : "1e0"}, ` +
  `"error": ${error ? '{"error": "ModelError", "error_chain_repr": "ModelError()", "error_chain_str": "ModelError"}' : "null"}, "is_completed": true, "is_truncated": false, ` +
  `"stop_condition": ${error ? '"has_error"' : '"max_turns_reached"'}, "metrics": {}, "tool_defs": [], "token_usage": {"input_tokens": 5.0, "output_tokens": 1.0}}`;

/** An environment that another library plays: it says nothing of an example before all of it is over. */
function elsewhere(hasGroupRewards = false): HostedEnvironment {
  const local = inProcess(env(new Rubric([])));
  return {
    ...local,
    traits: { ...local.traits, whole: true, hasGroupRewards, scoresAlone: false, resultsShape: "0.1.14" },
    play: async (input, indices, options) => {
      const { client, model, sampling_args, stored } = options;
      const how = { client, model, samplingArgs: sampling_args };
      const rows = new Map((stored?.rows ?? []).map((row) => [row.index, storedOf(input, row, [], how)]));
      const ended = new Promise<null>((resolve) => options.signal.addEventListener("abort", () => resolve(null)));
      const play = async (index: number): Promise<State> => {
        const known = rows.get(index);
        if (known !== undefined) {
          Object.assign(known.own, { reward: 0.5, metrics: {}, error: null });
          return known.state;
        }
        const said = await client
          .getResponse({ model, prompt: [], sampling_args: {}, tools: [], state: {}, signal: options.signal })
          .then(({ message }) => rowOf(input, String(message.content)))
          .catch(() => rowOf(input, "", true));
        return stateOfGivenRow(input, said, how);
      };
      const states = await Promise.race([ended, Promise.all(indices.map(play))]);
      if (states === null) return { states, fatal: null, aborted: true };
      for (const [at, state] of states.entries()) if (!rows.has(indices[at] ?? -1)) options.onRollout?.(indices[at] ?? 0, state);
      options.onScoring?.(null);
      return { states, ...(stored === undefined ? {} : { stored: rows }), fatal: null, aborted: false };
    },
  };
}

const options = { units: 1, lanes: 8, rollouts: R, config: { max_concurrent: 16 } };
const texts = ({ run, objects }: Line): string[] =>
  run === undefined
    ? []
    : [...run.ledger.doneFrom(0)].flatMap((done) => {
        const lines = linesAt(objects.get(segmentKey(run.ledger.config().run_id, done.segment)) ?? new Uint8Array(), done);
        return lines.ok ? lines.value.map((line) => line.trimEnd()) : [];
      });
/** The first `failures` calls fail, the others are answered in a moment. */
const failing = (line: Line, failures: number) => async (): Promise<string> => {
  const call = ++line.calls;
  await sleep(10);
  if (call <= failures) throw Object.assign(new Error("refused"), { code: "ECONNREFUSED" });
  return "x".repeat(call);
};

describe("an example that is played in one piece elsewhere", () => {
  it("has one executor, whatever others there are, and the rows that were given, with what we add", async () => {
    const line = new Line({ ...options, hosted: elsewhere() });
    const first = line.next(99, { executor: "a" });
    await advance(5);
    expect(() => line.next(99, { executor: "b" })).toThrow(/no grant/);
    await advance(10_000);
    await first.over;
    expect([line.calls, line.run?.head.status, line.run?.head.totals.rollouts]).toEqual([R, "COMPLETED", R]);
    for (const [index, text] of texts(line).entries()) expect(text).toMatch(new RegExp(`"reward": 1e0, .*"output_tokens": 1.0}, "rollout_index": ${index}}$`));
    expect([kept(line), line.notes]).toEqual([[], []]);
  });

  it("is played again from its beginning when its executor is killed: nothing of it is kept, and nobody is told that it cannot be", async () => {
    const line = new Line({ ...options, hosted: elsewhere() });
    let silent = false;
    const dead = line.next(R - 1, { executor: "a", onCall: async (_name, send) => (silent ? NEVER : send()) });
    await advance(60_000);
    expect([line.calls, kept(line), texts(line), line.notes]).toEqual([R, [], [], []]);
    silent = true;
    dead.run.now += dead.run.timing.lease + dead.run.timing.grace;
    const next = line.next(99, { executor: "b" });
    await advance(10_000);
    await next.over;
    expect([line.calls, line.rows().length, dead.run.head.status]).toEqual([2 * R, R, "COMPLETED"]);
  });

  it.each([
    ["is drawn again for the rollouts that infrastructure ended, and keeps the rows of the others byte for byte", false],
    ["whose rollouts are judged together is scored anew with those that are drawn again", true],
  ])("%s", async (_, group) => {
    const line = new Line({ ...options, rollouts: 4, hosted: elsewhere(group) });
    const first = line.next(0, { answer: failing(line, 2) });
    await advance(5_000);
    await first.over;
    const before = texts(line);
    expect([before.length, line.run?.head.totals.errors]).toEqual([4, { provider_error: 2 }]);
    first.run.settle();
    expect(first.run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 2 } });
    const second = line.next(99);
    await advance(5_000);
    await second.over;
    const after = texts(line);
    expect([line.calls, line.run?.head.status, line.run?.head.totals.errors]).toEqual([6, "COMPLETED", {}]);
    const same = after.filter((text) => before.includes(text)).length;
    expect(same).toBe(group ? 0 : 2);
    if (group)
      expect(line.rows().map(({ reward, scored_anew }) => [reward, scored_anew])).toEqual([
        [1, true],
        [1, true],
        [0.5, true],
        [0.5, true],
      ]);
    expect(after.map((text) => (JSON.parse(text) as { rollout_index: number }).rollout_index)).toEqual([0, 1, 2, 3]);
  });

  it("has metadata of the shape that its library writes, and so are rows of which it gives none", async () => {
    const hosted = elsewhere();
    const broke = async (...[input, indices, { client, model, now }]: Parameters<HostedEnvironment["play"]>) => {
      const states = indices.map(() => createState(input, { client, model, samplingArgs: {}, tools: [], now: now() }));
      for (const state of states) Object.assign(state, { completion: [], is_completed: true, error: rolloutFailure("sandbox_error", "gone") });
      return { states, fatal: null, aborted: false };
    };
    const line = new Line({ ...options, rollouts: 1, hosted: { ...hosted, play: broke } });
    const first = line.next(99);
    await advance(5_000);
    await first.over;
    const [row] = texts(line).map((text) => JSON.parse(text) as { task?: string; timing: object });
    expect([row?.task, Object.keys(row?.timing ?? {})]).toEqual([undefined, expect.arrayContaining(["generation", "model", "total"])]);
    const metadata = await metadataOf(first.run.ledger, async () => true);
    expect([metadata?.time_ms, typeof metadata?.time]).toEqual([undefined, "number"]);
  });

  it("is not left in the middle when its executor is to end soon", async () => {
    const line = new Line({ ...options, hosted: elsewhere() });
    const { ticket, over } = line.next(0, { answer: () => sleep(500).then(() => "x") });
    await advance(100);
    ticket.stop("leave");
    await advance(30_000);
    await over;
    expect([line.rows().length, kept(line)]).toEqual([R, []]);
  });
});
