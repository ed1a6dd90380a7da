import { describe, expect, it } from "vitest";
import type { AdoptCall, AdoptedUnit, Grant, TicketId, UnitRange } from "../../../../durable-objects/run/protocol.ts";
import { manifestText } from "../../../../r2-layout/folder-manifest.ts";
import { datasetKey, inputsKey } from "../../../../r2-layout/keys.ts";
import { sleep } from "../../../../src/clients/transport/sleep.ts";
import { adoptFolder } from "../../../../src/executor/preparation/adopt.ts";
import type { ExecutorPorts } from "../../../../src/executor/ports.ts";
import { ADOPTED_SEGMENT_ROWS } from "../../../../src/limits.ts";
import { addUnit } from "../../../../src/metrics/totals.ts";
import type { RolloutSummary } from "../../../../src/metrics/rollout-summary.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const SOURCE = { results: "a".repeat(64), dataset_digest: null, keep_errors: false };
const broken = summary({ reward: 0, error: "connection_cut" });

/** A run continued from a folder, with `n` inputs pinned and nothing taken over yet; the folder may have rows of all units but those it `lacks`. */
function importing(n: number, r: number, keepErrors = false, lacks: readonly UnitRange[] = []): { run: RuleRun; grant: Grant } {
  const run = new RuleRun({ num_examples: n, rollouts_per_example: r }, { ...SOURCE, keep_errors: keepErrors });
  run.pin(n, { lacks });
  return { run, grant: run.adopter() };
}
function adopt(run: RuleRun, grant: Grant, units: Readonly<Record<number, readonly (RolloutSummary | null)[]>>): string {
  const adopted = Object.entries(units).map(([unit, rollouts]) => ({ unit: Number(unit), offset: 0, length: 10, rollouts }));
  return run.call("adopt", { ...run.id(grant), segment: run.newSegment(grant), units: adopted, part: 0, through: Math.max(...adopted.map(({ unit }) => unit)) })
    .kind;
}
const open = (run: RuleRun, grant: Grant): string => run.call("adopted", run.id(grant)).kind;

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

/**
 * Takes `rows` rows of one rollout each over into `run`, in `parts` uploads; counts segments, parts that were read, and the turns that others
 * had meanwhile. `diesAfter`: segments until the executor falls silent.
 */
async function takeOver(run: RuleRun, grant: Grant, rows: number, { diesAfter = Number.POSITIVE_INFINITY, parts = 0 } = {}) {
  const text = (from: number, to: number): string =>
    Array.from({ length: to - from }, (_, index) => `${JSON.stringify({ example_id: from + index, prompt: "p", reward: 1 })}\n`).join("");
  const digest = (part: number): string => part.toString(16).padStart(64, "0");
  const each = Math.ceil(rows / Math.max(1, parts));
  const uploads = new Map([
    [
      datasetKey(SOURCE.results),
      parts === 0
        ? text(0, rows)
        : manifestText({ parts: Array.from({ length: parts }, (_, part) => ({ digest: digest(part), bytes: 1 })), held: [[0, rows - 1]] }),
    ],
    ...Array.from({ length: parts }, (_, part) => [datasetKey(digest(part)), text(part * each, Math.min(rows, (part + 1) * each))] as const),
    [inputsKey(grant.config.run_id, digest(999)), text(0, rows)],
  ]);
  const seen = { segments: 0, first: -1, turns: 0, read: [] as string[] };
  const stub = {
    inputs: async () => ({ kind: "inputs", chunks: [{ lo: 0, hi: rows, digest: digest(999), bytes: 1 }] }),
    async adopt(call: AdoptCall) {
      const units = JSON.parse(call.units) as AdoptedUnit[];
      if (seen.first < 0) seen.first = units[0]?.unit ?? -1;
      return run.call("adopt", { ...call, units });
    },
    adopted: async (request: TicketId) => run.call("adopted", request),
  };
  const store = {
    readAll: async (key: string) => new TextEncoder().encode(uploads.get(key)),
    async stream(key: string) {
      seen.read.push(key);
      return new Response(uploads.get(key)).body;
    },
    async create() {
      if (++seen.segments > diesAfter) throw new Error("dead");
      return "stored" as const;
    },
  };
  const ports = { store, run: () => stub, sleep } as unknown as ExecutorPorts;
  const others = setInterval(() => seen.turns++, 0);
  const { task } = grant;
  if (task.kind !== "adopt") throw new Error(task.kind);
  const source = { ...task.source, dataset_digest: digest(0), ...(parts === 0 ? {} : { in_parts: true as const }) };
  await adoptFolder(ports, grant, { ...task, source }, new AbortController().signal).catch(() => undefined);
  clearInterval(others);
  return seen;
}

describe("a large result folder", () => {
  it("is taken over in slices, between which beats have their turn", async () => {
    const { run, grant } = importing(20_000, 1);
    const { segments, turns } = await takeOver(run, grant, 20_000);
    expect(segments).toBe(Math.ceil(20_000 / ADOPTED_SEGMENT_ROWS));
    expect(turns).toBeGreaterThanOrEqual(segments - 1);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 20_000, totals: { rollouts: 20_000, reward_sum: 20_000 } });
  });

  it.each([0, 7])("is gone on with where the adoption before fell silent, row by row the same (%i parts)", async (parts) => {
    const { run, grant } = importing(20_000, 1);
    const first = await takeOver(run, grant, 20_000, { diesAfter: 4, parts });
    expect(first.segments).toBe(5);
    const passed = run.head.done;
    expect(passed).toBeGreaterThan(0);
    run.now += run.timing.lease + run.timing.grace;
    const rest = await takeOver(run, run.adopter(), 20_000, { parts });
    expect(rest.first).toBe(passed);
    // What is behind is not read again.
    if (parts > 0) expect(rest.read.length).toBeLessThan(parts);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 20_000, totals: { rollouts: 20_000, reward_sum: 20_000 } });
    expect(run.head.import_through).toBeUndefined();
    expect(run.head.import_part).toBeUndefined();
  });
});

describe("rows of a result folder", () => {
  it("that ended in a scorer error are owed scoring, where other code goes on with the folder", () => {
    const unscored = [summary({ reward: 0, error: "scorer_error" }), summary()];
    const owed = (code_changed: boolean) => {
      const run = new RuleRun({ num_examples: 1, rollouts_per_example: 2 }, { ...SOURCE, env_digests: ["e0", "e"], ...(code_changed ? { code_changed } : {}) });
      run.pin(1);
      const grant = run.adopter();
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
    expect(run.head).toMatchObject({ phase: "open", status: "RUNNING", held: 2 });
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

  it("are taken over once, however often an adoption begins anew", () => {
    const { run, grant } = importing(3, 1);
    adopt(run, grant, { 0: [summary({ reward: 0.5 })] });
    run.now += run.timing.lease + run.timing.grace;
    const again = run.adopter();
    expect(again.task).toMatchObject({ kind: "adopt", source: { results: SOURCE.results }, part: 0, through: 0 });
    expect(adopt(run, grant, { 1: [summary()] })).toBe("lost");
    adopt(run, again, { 0: [summary({ reward: 0.5 })], 1: [summary({ reward: 0.25 })] });
    open(run, again);
    expect(run.head).toMatchObject({ done: 2, pending: 1, totals: { rollouts: 2, reward_sum: 0.75 } });
  });

  it.each(["interrupt", "cancel"] as const)("are still taken over by the next resume when that was stopped (%s)", (stop) => {
    const { run, grant } = importing(4, 2, false, [{ lo: 3, hi: 4 }]);
    adopt(run, grant, { 0: [summary(), broken] });
    run.call(stop, null);
    run.leave(grant);
    if (stop === "cancel") run.settle();
    expect(run.resume()).toMatchObject({ ok: true });
    const again = run.adopter();
    adopt(run, again, { 0: [summary(), broken], 1: [summary(), summary()] });
    open(run, again);
    expect(run.head).toMatchObject({ status: "RUNNING", done: 1, pending: 3, totals: { rollouts: 4 } });
    // What was pending first is handed out first.
    expect(handedOut(run).sort(([a], [b]) => a - b)).toEqual([
      [0, [0]],
      [2, []],
      [3, []],
    ]);
  });

  it("that three adoptions in a row fell silent over end the run by name", () => {
    const { run, grant } = importing(4, 1, false, [{ lo: 3, hi: 4 }]);
    adopt(run, grant, { 0: [summary()] });
    for (let lost = 0; lost < 3; lost++) {
      if (lost > 0) run.adopter();
      run.now += run.timing.lease + run.timing.grace;
      run.call("poke", null);
    }
    expect(run.head).toMatchObject({
      status: "FAILED",
      failure: { code: "preparation_failed", message: expect.stringContaining("rows of the result folder was begun 3 times") },
    });
  });
});

describe("what a folder lacks", () => {
  it("is asked of the model before the rest is taken over, and never what is still to be taken over", () => {
    const { run, grant } = importing(6, 1, false, [
      { lo: 1, hi: 2 },
      { lo: 4, hi: 6 },
    ]);
    expect(run.head).toMatchObject({ phase: "open", pending: 3, held: 3, done: 0 });
    expect(handedOut(run)).toEqual([
      [1, []],
      [4, []],
      [5, []],
    ]);
    // Rows of what is being generated count for nothing, also before it is done.
    adopt(run, grant, { 0: [summary({ reward: 0.5 })], 1: [summary({ reward: 0.125 })], 4: [summary({ reward: 0.125 })] });
    expect(run.head).toMatchObject({ held: 2, done: 1, totals: { rollouts: 1, reward_sum: 0.5 } });
    run.now += run.timing.lease + run.timing.grace;
    run.call("poke", null);
    adopt(run, run.adopter(), { 1: [summary({ reward: 0.125 })] });
    expect(run.head).toMatchObject({ held: 2, pending: 3, totals: { rollouts: 1 } });
  });

  it("does not end the run while rows are still to be taken over", () => {
    const { run, grant } = importing(3, 1, false, [{ lo: 2, hi: 3 }]);
    run.work();
    expect(run.head).toMatchObject({ phase: "open", status: "RUNNING", done: 1, pending: 0 });
    adopt(run, grant, { 0: [summary()], 1: [broken] });
    expect(run.head).toMatchObject({ phase: "open", done: 2, pending: 1, held: 0 });
    run.work();
    expect(run.head).toMatchObject({ phase: "open", status: "RUNNING", done: 3 });
    open(run, grant);
    expect(run.head).toMatchObject({ phase: "finalising", status: "COMPLETED", import: null });
  });

  it("is worked on by the executor that takes the rest over, whose two tickets do not end each other", () => {
    const { run } = importing(3, 1, false, [{ lo: 2, hi: 3 }]);
    const run2 = new RuleRun({ num_examples: 3 }, SOURCE);
    run2.pin(3, { lacks: [{ lo: 2, hi: 3 }] });
    const adopter = run2.join("one", { seq: 1, adopts: true });
    const repeated = run2.join("one", { seq: 1, adopts: true });
    expect(adopter).toMatchObject({ kind: "grant", task: { kind: "adopt" }, lanes: 0, requests: 0 });
    expect(repeated).toEqual(adopter);
    const units = run2.join("one", { seq: 2, adopts: true });
    expect(units).toMatchObject({ kind: "grant", task: { kind: "units" } });
    expect(run2.ledger.tickets()).toHaveLength(2);
    expect(run2.join("one", { seq: 3, adopts: true })).toMatchObject({ kind: "grant", task: { kind: "units" } });
    expect(run2.ledger.tickets().map(({ task }) => task.kind)).toEqual(["adopt", "units"]);
    // An executor of before is given units only.
    expect(run.join("old")).toMatchObject({ kind: "grant", task: { kind: "units" } });
  });

  it("grows the run behind what is held", () => {
    const { run, grant } = importing(3, 1, false, [{ lo: 2, hi: 3 }]);
    run.call("interrupt", null);
    run.leave(grant);
    expect(run.resume({ num_examples: 5 })).toMatchObject({ ok: true });
    run.pin(5, { digest: "digest of 5", lacks: [] });
    expect(run.head).toMatchObject({ phase: "open", n: 5, pending: 3, held: 2 });
    const again = run.adopter();
    adopt(run, again, { 0: [summary()], 1: [summary()] });
    open(run, again);
    expect(
      handedOut(run)
        .map(([unit]) => unit)
        .sort((a, b) => a - b),
    ).toEqual([2, 3, 4]);
  });
});

describe("a run that a version before was taking a folder over for", () => {
  it("goes on, with the units that it has", () => {
    const run = new RuleRun({ num_examples: 4, rollouts_per_example: 1 }, SOURCE);
    // As it was stored: pinned, still preparing, some rows taken over, none of them counted as done.
    run.pin(4);
    run.call("interrupt", null);
    const head = run.head;
    delete head.held;
    head.phase = "preparing";
    head.import_through = 1;
    head.totals = addUnit(addUnit(head.totals, [summary()]), [broken]);
    run.ledger.putHead(head);
    run.ledger.putDone({ unit: 0, segment: "1-1-1", offset: 0, length: 10, rollouts: [summary()], owed: false });
    run.ledger.putDone({ unit: 1, segment: "1-1-1", offset: 10, length: 10, rollouts: [broken], owed: false });
    expect(run.resume()).toMatchObject({ ok: true });
    run.pin(4);
    expect(run.head).toMatchObject({ phase: "open", done: 1, pending: 1, held: 2 });
    const grant = run.adopter();
    expect(grant.task).toMatchObject({ part: 0, through: 1 });
    adopt(run, grant, { 2: [summary()] });
    open(run, grant);
    expect(handedOut(run)).toEqual([
      [1, []],
      [3, []],
    ]);
  });
});
