import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { segmentKey } from "../../../r2-layout/keys.ts";
import { linesAt } from "../../../r2-layout/segment.ts";
import { sleep } from "../../../src/clients/transport/sleep.ts";
import { MultiTurnEnv, type MultiTurnOptions } from "../../../src/environments/kinds/multi-turn-env.ts";
import { SavedRows } from "../../../src/executor/units/saved-rows.ts";
import type { State } from "../../../src/rollouts/types.ts";
import type { RuleRun } from "../../support/run/rule-run.ts";
import { unboundedBytes } from "../../support/run/unbounded-bytes.ts";
import { type TicketOptions, ticketOnRuleRun } from "../../support/run/rule-ticket.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const NEVER = new Promise<never>(() => undefined);

/** Counts its turns in the state, and how often it was set up and taken up again. */
class Counting extends MultiTurnEnv {
  setups = 0;
  resumes = 0;
  own: () => object = () => ({});
  constructor(options: Partial<MultiTurnOptions> = {}) {
    super({ dataset: [{ question: "q" }], maxTurns: 10, ...options });
  }
  override async setupState(state: State): Promise<void> {
    this.setups++;
    Object.assign(state, { said: 0, ...this.own() });
  }
  override async resumeState(): Promise<void> {
    this.resumes++;
  }
  override envResponse(_messages: unknown, state: State): string {
    state.said = Number(state.said) + 1;
    return `go on ${state.said}`;
  }
}

/** Executors one after another before the same run. */
class Line {
  readonly objects = new Map<string, Uint8Array>();
  readonly notes: string[] = [];
  readonly environment: Counting;
  run: RuleRun | undefined;
  calls = 0;
  /** How long the model takes for each answer. */
  turnMs: number;
  readonly #options: Pick<TicketOptions, "units" | "lanes" | "rollouts" | "config">;

  constructor(options: Pick<TicketOptions, "units" | "lanes" | "rollouts" | "config">, turnMs: number, environment = new Counting()) {
    this.#options = options;
    this.turnMs = turnMs;
    this.environment = environment;
  }

  next(changes: Partial<TicketOptions> = {}) {
    const { run } = this;
    const life = { isOver: false };
    const begun = ticketOnRuleRun({
      ...this.#options,
      config: { state_columns: ["said"], ...this.#options.config },
      ...(run === undefined ? {} : { run }),
      objects: this.objects,
      saved: new SavedRows(unboundedBytes()),
      environment: this.environment,
      onNote: (message) => void this.notes.push(message),
      onCall: async (_name, send) => (life.isOver ? NEVER : send()),
      answer: async () => {
        if (life.isOver) return NEVER;
        const call = ++this.calls;
        await sleep(this.turnMs);
        if (life.isOver) return NEVER;
        return `answer ${call}`;
      },
      ...changes,
    });
    this.run = begun.run;
    const kill = (): void => {
      life.isOver = true;
      begun.run.boot = `after ${begun.run.boot}`;
    };
    return { ...begun, kill, over: begun.ticket.run() };
  }

  rows(): {
    rollout_index: number;
    said: number;
    stop_condition: string;
    completion: object[];
    timing: { generation_ms: number };
    error: { code: string } | null;
  }[] {
    const { run } = this;
    if (run === undefined) return [];
    return [...run.ledger.doneFrom(0)].flatMap((done) => {
      const lines = linesAt(this.objects.get(segmentKey(run.ledger.config().run_id, done.segment)) ?? new Uint8Array(), done);
      return lines.ok ? lines.value.map((line) => JSON.parse(line)) : [];
    });
  }

  begun(): readonly (readonly number[])[] {
    return (this.run?.ledger.piecesIn({ lo: 0, hi: 100 }) ?? []).map(({ unit, begun = [] }) => [unit, ...begun]);
  }
}

const advance = (ms: number) => vi.advanceTimersByTimeAsync(ms);
const whole = { said: 9, stop_condition: "max_turns_reached", error: null };

describe("rollouts of several turns", () => {
  it("go on from their last answer when their executor was stopped: what was in flight is asked again, and nothing else", async () => {
    const line = new Line({ units: 2, lanes: 8, rollouts: 2 }, 1_000);
    const first = line.next();
    await advance(4_500);
    expect(line.begun()).toEqual([]);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    expect(line.begun()).toEqual([
      [0, 0, 1],
      [1, 0, 1],
    ]);
    await advance(3_600_000);
    const second = line.next();
    await advance(20_000);
    await second.over;
    // Four rollouts of ten turns, and each of the four was waiting for an answer.
    expect(line.calls).toBe(4 * 10 + 4);
    expect([line.environment.setups, line.environment.resumes]).toEqual([4, 4]);
    expect(line.rows()).toHaveLength(4);
    for (const row of line.rows()) {
      expect(row).toMatchObject(whole);
      expect(row.completion).toHaveLength(19);
      // Ten calls of a second, without the hour away and the half second that was lost.
      expect(row.timing.generation_ms).toBe(10_000);
    }
    expect([line.begun(), line.run?.head.status, line.run?.head.totals.rollouts]).toEqual([[], "COMPLETED", 4]);
  });

  it("lose with an executor that is killed what they took since they were kept last, and no more", async () => {
    const line = new Line({ units: 1, lanes: 4 }, 3_000, new Counting({ maxTurns: 10 }));
    const first = line.next();
    // After 12 s four answers are kept; the fifth and the one in flight are lost.
    await advance(16_500);
    expect(line.begun()).toEqual([[0, 0]]);
    expect(line.calls).toBe(6);
    first.kill();
    const second = line.next();
    await advance(40_000);
    await second.over;
    expect(line.rows()).toEqual([expect.objectContaining(whole)]);
    expect(line.calls).toBe(10 + 2);
  });

  it("stop at their next turn when the executor is to leave: no call is cut, none is made twice", async () => {
    const line = new Line({ units: 3, lanes: 3 }, 1_000);
    let away = 0;
    for (let executors = 0; executors < 4; executors++) {
      const { ticket, over } = line.next();
      await advance(2_400);
      if (executors === 3) await advance(20_000);
      else ticket.stop("leave");
      await advance(2_000);
      await over;
      away += 60_000;
      await advance(60_000);
    }
    expect(away).toBeGreaterThan(0);
    expect(line.calls).toBe(30);
    expect(line.rows()).toHaveLength(3);
    for (const row of line.rows()) expect([row.said, row.timing.generation_ms, row.error]).toEqual([9, 10_000, null]);
  });

  it("of which some are done and some are not are kept each as it is", async () => {
    const line = new Line({ units: 1, lanes: 4, rollouts: 3 }, 1_000);
    line.environment.onStop("early", (state) => state.trajectory.length === 2 && state.trajectory[0]?.completion[0]?.content === "answer 1");
    const first = line.next();
    await advance(5_500);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    expect(line.run?.ledger.piecesIn({ lo: 0, hi: 1 }).flatMap(({ rollouts }) => rollouts)).toEqual([0]);
    expect(line.begun().flatMap(([, ...begun]) => begun)).toEqual([1, 2]);
    const second = line.next();
    await advance(20_000);
    await second.over;
    expect(line.calls).toBe(2 + 10 + 10 + 2);
    expect(line.rows().map(({ stop_condition }) => stop_condition)).toEqual(["early", "max_turns_reached", "max_turns_reached"]);
  });

  it.each([
    [
      "whose state is no JSON: the key is named once",
      () => ({ board: { check: () => 1 } }),
      ["Rollouts are kept with their whole example only, since their state is no JSON: state.board.check is a function"],
    ],
  ])("begin anew %s", async (_name, own, notes) => {
    const line = new Line({ units: 2, lanes: 8 }, 1_000);
    line.environment.own = own;
    const first = line.next();
    await advance(4_500);
    first.ticket.stop("leave");
    await advance(20_000);
    await first.over;
    expect(line.notes).toEqual(notes);
    expect(line.begun()).toEqual([]);
    expect(line.calls).toBe(20);
    expect(line.rows()).toHaveLength(2);
  });

  it("begin anew where their environment says that they cannot go on", async () => {
    const line = new Line({ units: 1, lanes: 8 }, 1_000, new Counting({ resumable: false }));
    const first = line.next();
    await advance(4_500);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    expect([line.begun(), line.notes]).toEqual([[], []]);
    const second = line.next();
    await advance(20_000);
    await second.over;
    expect([line.calls, line.environment.setups, line.environment.resumes]).toEqual([5 + 10, 2, 0]);
  });

  it("begin anew where resumeState throws, which is no error of theirs", async () => {
    const line = new Line({ units: 1, lanes: 8 }, 1_000);
    line.environment.resumeState = () => Promise.reject(new Error("it is gone"));
    const first = line.next();
    await advance(4_500);
    first.ticket.stop("abort");
    await advance(3_000);
    await first.over;
    const second = line.next();
    await advance(20_000);
    await second.over;
    expect(line.calls).toBe(5 + 10);
    expect(line.rows()).toEqual([expect.objectContaining(whole)]);
  });

  it("may take longer than a unit may, as long as each turn does not", async () => {
    const line = new Line({ units: 1, lanes: 1 }, 4_000);
    const { over } = line.next({ budget: { unitDeadline: 5_000 } });
    await advance(60_000);
    await over;
    expect(line.rows()).toEqual([expect.objectContaining(whole)]);
    const hung = new Line({ units: 1, lanes: 1 }, 4_000);
    const answered = hung.next({ budget: { unitDeadline: 5_000 } });
    await advance(9_000);
    hung.turnMs = 60_000;
    await advance(120_000);
    await answered.over;
    expect(hung.rows()).toEqual([expect.objectContaining({ error: expect.objectContaining({ code: "timeout" }) })]);
  });
});
