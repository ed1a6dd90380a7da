import { describe, expect, it } from "vitest";
import type { AdoptRequest, Grant, TicketId } from "../../durable-objects/run/protocol.ts";
import { sleep } from "../../src/clients/sleep.ts";
import { adoptResults } from "../../src/executor/adopt.ts";
import type { ExecutorPorts } from "../../src/executor/ports.ts";
import type { RolloutSummary } from "../../src/metrics/rollout-summary.ts";
import { RuleRun, summary } from "../support/rule-run.ts";

const SOURCE = { results: "a".repeat(64), dataset_digest: null, keep_errors: false };
const broken = summary({ reward: 0, error: "connection_cut" });

/** A run continued from a folder, with `n` inputs pinned and nothing taken over yet. */
function importing(n: number, r: number, keepErrors = false): { run: RuleRun; grant: Grant } {
  const run = new RuleRun({ num_examples: n, rollouts_per_example: r }, { ...SOURCE, keep_errors: keepErrors });
  return { run, grant: run.pin(n, { open: false }) };
}
function adopt(run: RuleRun, grant: Grant, units: Readonly<Record<number, readonly (RolloutSummary | null)[]>>): string {
  const adopted = Object.entries(units).map(([unit, rollouts]) => ({ unit: Number(unit), offset: 0, length: 10, rollouts }));
  return run.call("adopt", { ...run.id(grant), segment: run.newSegment(grant), units: adopted }).kind;
}
const open = (run: RuleRun, grant: Grant): string => run.call("opened", run.id(grant)).kind;

/** Everything that is to be run: unit and the rollouts of it that are kept. */
function handedOut(run: RuleRun): (readonly [number, readonly number[]])[] {
  const grant = run.grant("a", 64);
  const out: [number, readonly number[]][] = [];
  for (let seq = 1; ; seq++) {
    const answer = run.claim(grant, seq, { free: 64 });
    if (answer.kind !== "block") return out;
    for (let unit = answer.lo; unit < answer.hi; unit++) out.push([unit, answer.redo.find((redo) => redo.unit === unit)?.keep ?? []]);
  }
}

/** Takes rows of one rollout each over into `run`; counts segments, and the turns that others had meanwhile. `diesAfter`: segments until the executor falls silent. */
async function takeOver(run: RuleRun, grant: Grant, rows: number, diesAfter = Number.POSITIVE_INFINITY) {
  const text = Array.from({ length: rows }, (_, id) => `${JSON.stringify({ example_id: id, prompt: "p", reward: 1 })}\n`).join("");
  const seen = { segments: 0, first: -1, turns: 0, ended: false };
  const stub = {
    async adopt(request: AdoptRequest) {
      if (seen.first < 0) seen.first = request.units[0]?.unit ?? -1;
      return run.call("adopt", request);
    },
    opened: async (request: TicketId) => run.call("opened", request),
  };
  const store = {
    stream: async () => new Response(text).body,
    async create() {
      if (++seen.segments > diesAfter) throw new Error("dead");
      return "stored" as const;
    },
  };
  const ports = { store, run: () => stub, sleep } as unknown as ExecutorPorts;
  const others = setInterval(() => seen.turns++, 0);
  const { task } = grant;
  const through = task.kind === "prepare" ? task.adopt?.through : undefined;
  const ids = Array.from({ length: rows }, (_, id) => id);
  const work = adoptResults(
    ports,
    grant,
    { results: SOURCE.results, ids, questions: new Map(), ...(through === undefined ? {} : { through }) },
    new AbortController().signal,
  );
  await work.catch(() => undefined);
  clearInterval(others);
  return seen;
}

describe("a large result folder", () => {
  it("is taken over in slices, between which beats have their turn", async () => {
    const { run, grant } = importing(20_000, 1);
    const { segments, turns } = await takeOver(run, grant, 20_000);
    expect(segments).toBeGreaterThan(30);
    expect(turns).toBeGreaterThanOrEqual(segments - 1);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 20_000, totals: { rollouts: 20_000, reward_sum: 20_000 } });
  });

  it("is gone on with where the preparation before fell silent, row by row the same", async () => {
    const { run, grant } = importing(5_000, 1);
    const { segments } = await takeOver(run, grant, 5_000, 6);
    expect(segments).toBe(7);
    run.now += run.timing.lease + run.timing.grace;
    const again = run.pin(5_000, { open: false, digest: "digest of 5000" });
    const rest = await takeOver(run, again, 5_000);
    expect(rest.first).toBe(6 * 512);
    expect(rest.segments).toBe(4);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 5_000, totals: { rollouts: 5_000, reward_sum: 5_000 } });
    expect(run.head.import_through).toBeUndefined();
  });
});

describe("rows of a result folder", () => {
  it("that ended in a scorer error are owed scoring, where other code goes on with the folder", () => {
    const unscored = [summary({ reward: 0, error: "scorer_error" }), summary()];
    const owed = (code_changed: boolean) => {
      const run = new RuleRun({ num_examples: 1, rollouts_per_example: 2 }, { ...SOURCE, env_digests: ["e0", "e"], ...(code_changed ? { code_changed } : {}) });
      const grant = run.pin(1, { open: false });
      adopt(run, grant, { 0: unscored });
      open(run, grant);
      return run.head.pending === 0 ? null : run.block(run.grant("a"), 1).redo.map(({ keep, score }) => ({ keep, score }));
    };
    expect(owed(true)).toEqual([{ keep: [0, 1], score: [0] }]);
    expect(owed(false)).toBeNull();
  });

  it("count as done; what the folder lacks, and what failed in the infrastructure, is run", () => {
    const { run, grant } = importing(6, 2);
    adopt(run, grant, { 1: [summary(), summary()], 2: [summary(), null], 4: [broken, summary()], 5: [summary(), summary({ error: "bad_request" })] });
    expect(run.head).toMatchObject({ phase: "preparing", status: "PENDING" });
    expect(open(run, grant)).toBe("ok");
    expect(run.head).toMatchObject({ phase: "open", done: 2, pending: 4, totals: { rollouts: 7, errors: { connection_cut: 1, bad_request: 1 } } });
    expect(handedOut(run)).toEqual([
      [0, []],
      [2, [0]],
      [3, []],
      [4, [1]],
    ]);
  });

  it("that failed stay when errors are kept, also beside a rollout that is missing", () => {
    const { run, grant } = importing(3, 3, true);
    adopt(run, grant, { 0: [broken, broken, summary()], 1: [broken, null, summary()], 2: [summary(), summary(), summary()] });
    open(run, grant);
    expect(handedOut(run)).toEqual([[1, [0, 2]]]);
  });

  it("make a run without anything left to do complete", () => {
    const { run, grant } = importing(2, 1);
    adopt(run, grant, { 0: [summary()], 1: [summary()] });
    open(run, grant);
    expect(run.head).toMatchObject({ status: "COMPLETED", phase: "finalising", done: 2 });
  });

  it("are taken over once, however often a preparation begins anew", () => {
    const { run, grant } = importing(3, 1);
    adopt(run, grant, { 0: [summary({ reward: 0.5 })] });
    run.now += run.timing.lease + run.timing.grace;
    const again = run.pin(3, { open: false, digest: "digest of 3" });
    expect(again.task).toMatchObject({ kind: "prepare", adopt: { results: SOURCE.results } });
    expect(adopt(run, grant, { 1: [summary()] })).toBe("lost");
    adopt(run, again, { 0: [summary({ reward: 0.5 })], 1: [summary({ reward: 0.25 })] });
    open(run, again);
    expect(run.head).toMatchObject({ done: 2, pending: 1, totals: { rollouts: 2, reward_sum: 0.75 } });
  });

  it.each(["interrupt", "cancel"] as const)("are still taken over by the next resume when that was stopped (%s)", (stop) => {
    const { run, grant } = importing(4, 2);
    adopt(run, grant, { 0: [summary(), broken] });
    run.call(stop, null);
    run.leave(grant);
    if (stop === "cancel") run.settle();
    expect(run.resume()).toMatchObject({ ok: true });
    const again = run.pin(4, { open: false });
    adopt(run, again, { 0: [summary(), broken], 1: [summary(), summary()] });
    open(run, again);
    expect(run.head).toMatchObject({ status: "RUNNING", done: 1, pending: 3, totals: { rollouts: 4 } });
    expect(handedOut(run)).toEqual([
      [0, [0]],
      [2, []],
      [3, []],
    ]);
  });
});
