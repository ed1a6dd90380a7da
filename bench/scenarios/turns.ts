import { referencedSegments } from "../../durable-objects/run/course/referenced.ts";
import { metadataOf } from "../../durable-objects/run/reading/run-metadata.ts";
import type { MemoryLedger } from "../../test/support/run/memory-ledger.ts";
import { RuleRun, summary } from "../../test/support/run/rule-run.ts";
import { NodeSql } from "../load/node-sql.ts";
import type { Measure } from "../measure.ts";
import type { Scenario } from "../scenario.ts";

const UNITS = 1_000_000;
/** Units of a commit: as many as a segment has at most. */
const BATCH = 512;
/** One rollout in so many ended in an error that a resume makes good. */
const OWED_EVERY = 2_000;
/** Commits that the others are compared with: of a run that has just begun. */
const FIRST = 20;
/** What was promised of any turn. Milliseconds. */
const MOST_MS = 50;

interface Turn {
  readonly ms: number;
  readonly rows: number;
}

/** Of this thread, so that a busy machine makes no turn longer. */
const processorMs = (): number => {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
};

const longest = (turns: readonly Turn[]): Turn => turns.reduce((most, turn) => (turn.ms > most.ms ? turn : most), { ms: 0, rows: 0 });
const median = (turns: readonly Turn[]): Turn => [...turns].sort((a, b) => a.ms - b.ms)[turns.length >> 1] ?? { ms: Number.NaN, rows: 0 };

/**
 * The longest turn of a Run of a million units, in each thing that it does: its rules over its tables in SQLite of Node, one transition at a time,
 * and looks that take turns from pause to pause. In milliseconds of processor time, as rows that its statements return and change, and beside a commit of the same run when it had just begun.
 */
export const turns: Scenario = async () => {
  const sql = new NodeSql();
  const timed = new Map<string, Turn[]>();
  const note = (name: string, from: number, before: number): void => {
    const all = timed.get(name) ?? [];
    timed.set(name, all);
    all.push({ ms: processorMs() - from, rows: sql.touched - before });
  };
  const turn = <T>(name: string, work: () => T): T => {
    const [from, before] = [processorMs(), sql.touched];
    const result = work();
    note(name, from, before);
    return result;
  };
  const inTurns = async (name: string, work: (pause: () => Promise<boolean>) => Promise<unknown>): Promise<void> => {
    let [from, before] = [processorMs(), sql.touched];
    await work(async () => {
      note(name, from, before);
      await new Promise((resolve) => setImmediate(resolve));
      [from, before] = [processorMs(), sql.touched];
      return true;
    });
    note(name, from, before);
  };

  const run = await openRun(sql);
  const grant = turn("join", () => run.grant("worker", BATCH));
  for (let seq = 1, committed = 0; committed < UNITS; seq++) {
    const block = turn("claim", () => run.claim(grant, seq, { free: BATCH }));
    if (block.kind !== "block") throw new Error(`a claim got ${block.kind}`);
    const units = Array.from({ length: block.hi - block.lo }, (_, at) => block.lo + at);
    const rows = units.map((unit) => ({
      unit,
      offset: 0,
      length: 10,
      rollouts: [summary(unit % OWED_EVERY === 0 ? { error: "connection_failed", reward: 0 } : {})],
    }));
    const request = { ...run.id(grant), segment: run.newSegment(grant), units: rows };
    turn(committed + rows.length >= UNITS ? "last commit" : "commit", () => run.call("commit", request));
    committed += rows.length;
  }
  turn("leave", () => run.leave(grant));
  turn("settle", () => run.settle());
  await inTurns("metadata", (pause) => metadataOf(run.ledger, pause));
  await inTurns("sweep: what is referenced", (pause) => referencedSegments(run.ledger, [], { after: "", limit: 1_000 }, pause));
  const answer = turn("resume", () => run.resume());
  if (!answer.ok) throw new Error(answer.error.message);
  while (run.head.repair !== undefined && run.head.repair !== null) turn("repair", () => run.call("wake", null));
  sql.close();

  const usual = median((timed.get("commit") ?? []).slice(0, FIRST));
  const measure = (name: string, value: number, unit: string): Measure => ({ scenario: "turns", name, value, unit });
  const measures = [...timed].flatMap(([name, all]) => {
    const worst = longest(all);
    const rows = Math.max(...all.map((each) => each.rows));
    return [
      { ...measure(`${name}, longest of ${all.length}`, worst.ms, "ms"), target: { at_most: MOST_MS } },
      measure(`${name}, most rows in one`, rows, "rows"),
      measure(`${name}, longest beside a commit at the beginning`, worst.ms / usual.ms, "ratio"),
    ];
  });
  return [measure(`a commit of ${BATCH} units at the beginning`, usual.ms, "ms"), ...measures];
};

/** Not imported by name: its types are those of the Worker's runtime. */
const SQL_LEDGER = "../../durable-objects/run/state/sql-ledger.ts";

async function openRun(sql: NodeSql): Promise<RuleRun> {
  const { SqlLedger } = (await import(SQL_LEDGER)) as { readonly SqlLedger: new (sql: NodeSql) => MemoryLedger & { migrate(): void } };
  const stored = new SqlLedger(sql);
  stored.migrate();
  const ledger = Object.assign(stored, { transaction: <T>(change: () => T): T => sql.transaction(change) });
  const run = new RuleRun({ num_examples: UNITS, max_concurrent: BATCH }, null, ledger);
  run.pin(UNITS);
  return run;
}
