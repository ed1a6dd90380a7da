import { describe, expect, it } from "vitest";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

describe("a run", () => {
  it("goes from PENDING to RUNNING to COMPLETED, and settles when its files are written", () => {
    const run = new RuleRun({ num_examples: 3 });
    expect(run.head).toMatchObject({ status: "PENDING", phase: "preparing" });
    run.pin(3);
    expect(run.head).toMatchObject({ status: "RUNNING", phase: "open", pending: 3 });
    const grant = run.grant("a");
    run.block(grant, 1, { free: 3 });
    run.commit(grant, [0, 1, 2]);
    // Terminal at once; inside, the executor has yet to leave.
    expect(run.head).toMatchObject({ status: "COMPLETED", phase: "draining", ended_at: run.now });
    expect(run.beat(grant)).toBe("drain");
    run.leave(grant);
    expect(run.head).toMatchObject({ status: "COMPLETED", phase: "finalising" });
    run.settle();
    expect(run.head).toMatchObject({ status: "COMPLETED", phase: "settled", settled_at: run.now });
    expect(run.join("b")).toEqual({ kind: "closed" });
  });

  it("in which every rollout errored has FAILED, naming the errors", () => {
    const run = RuleRun.open(3);
    run.work((unit) => [summary({ reward: 0, error: unit === 0 ? "scorer_error" : "bad_request" })]);
    expect(run.head).toMatchObject({
      status: "FAILED",
      failure: { code: "all_rollouts_failed", message: "Every rollout ended in an error: scorer_error (1), bad_request (2)." },
    });
  });

  it("in which one rollout went well has COMPLETED", () => {
    const run = RuleRun.open(3);
    run.work((unit) => [summary({ error: unit === 0 ? null : "bad_request" })]);
    expect(run.head).toMatchObject({ status: "COMPLETED", failure: null });
  });

  it("ends FAILED at the word of an executor, and at no word of one whose grant is over", () => {
    const failure = { code: "auth_failed", message: "no" } as const;
    const run = RuleRun.open(3);
    const grant = run.grant("a");
    run.leave(grant);
    run.call("fail", { ...run.id(grant), failure });
    expect(run.head.status).toBe("RUNNING");
    const next = run.grant("a");
    run.call("fail", { ...run.id(next), failure });
    expect(run.head).toMatchObject({ status: "FAILED", phase: "draining", failure });
    expect(run.beat(next)).toBe("abort");
  });
});

describe("a cancel", () => {
  it("stops new units at once and lets open ones finish", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    expect(run.call("cancel", null)).toMatchObject({ ok: true });
    expect(run.head).toMatchObject({ status: "CANCELLED", phase: "draining" });
    expect([run.claim(grant, 2).kind, run.beat(grant)]).toEqual(["closed", "drain"]);
    expect(run.commit(grant, [0, 1, 2, 3])).toEqual(["accepted", "accepted", "accepted", "accepted"]);
    run.leave(grant);
    run.settle();
    expect(run.head).toMatchObject({ status: "CANCELLED", phase: "settled", done: 4 });
  });

  it("may be repeated, and is refused for a run that ended otherwise", () => {
    const run = RuleRun.open(1);
    run.call("cancel", null);
    expect(run.call("cancel", null)).toMatchObject({ ok: true });
    const other = RuleRun.open(1);
    other.work();
    expect(other.call("cancel", null)).toMatchObject({ ok: false, error: { code: "illegal_transition" } });
  });

  it("ends a run that waits for nobody, prepared or not", () => {
    const fresh = new RuleRun();
    fresh.call("cancel", null);
    expect(fresh.head.phase).toBe("finalising");
    const suspended = RuleRun.open(3);
    suspended.call("interrupt", null);
    suspended.call("cancel", null);
    expect(suspended.head).toMatchObject({ status: "CANCELLED", phase: "finalising" });
  });

  it("waits no longer than the lease for an executor that fell silent", () => {
    const run = RuleRun.open(3);
    run.block(run.grant("a"), 1);
    run.call("cancel", null);
    run.now += run.timing.lease + run.timing.grace - 1;
    run.call("wake", null);
    expect(run.head.phase).toBe("draining");
    run.now += 1;
    run.call("wake", null);
    expect(run.head.phase).toBe("finalising");
  });
});

describe("the time limit", () => {
  it("counts from the first grant, and ends the run to the millisecond", () => {
    const run = new RuleRun({ timeout_minutes: 2 });
    run.now += 600_000;
    run.pin(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.now += 60_000;
    run.call("wake", null);
    run.now += 59_999;
    run.call("wake", null);
    expect(run.head.status).toBe("RUNNING");
    run.now += 1;
    run.call("wake", null);
    expect(run.head).toMatchObject({ status: "TIMEOUT", failure: { code: "timeout", hint: expect.stringContaining("Resume it") } });
  });

  it("gives up what is open and keeps what is done", () => {
    const run = RuleRun.open(10, { timeout_minutes: 1 });
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0]);
    for (let second = 0; second < 60; second += 5) {
      run.now += 5_000;
      run.beat(grant);
    }
    expect(run.beat(grant)).toBe("abort");
    run.leave(grant);
    run.settle();
    expect(run.head).toMatchObject({ status: "TIMEOUT", done: 1, phase: "settled" });
  });

  it("wins over a completion that was not recorded in time", () => {
    const run = RuleRun.open(1, { timeout_minutes: 1 });
    const grant = run.grant("a");
    run.block(grant, 1);
    run.now += 60_000;
    run.commit(grant, [0]);
    expect(run.head.status).toBe("TIMEOUT");
  });

  it("is what the alarm is for", () => {
    const run = RuleRun.open(1, { timeout_minutes: 1 });
    const grant = run.grant("a");
    run.call("offered", run.head.offer.seq);
    run.call("projected", run.head.projection.version);
    run.leave(grant);
    run.call("offered", run.head.offer.seq);
    expect(run.wake).toBe(1_000_000 + 60_000);
  });
});

describe("an endpoint that cannot be reached", () => {
  const refused = [summary({ reward: 0, error: "connection_failed" })];

  it("stops the claiming after three failures per lane in a row, and fails the run after further probes", () => {
    const run = RuleRun.open(200);
    let grant = run.grant("a");
    const answered = run.block(grant, 1, { free: 1, soon: 0 });
    run.commit(grant, [answered.lo]);
    for (let seq = 2; seq <= 4; seq++) {
      const { lo, hi } = run.block(grant, seq);
      for (let unit = lo; unit < hi; unit++) run.commit(grant, [unit], refused);
    }
    expect(run.claim(grant, 5)).toMatchObject({ kind: "empty" });
    expect(run.head.offer.want).toBe(0);
    run.leave(grant);
    expect(run.join("b")).toEqual({ kind: "none" });
    for (let probe = 0; probe < 3; probe++) {
      run.now = run.head.health.backoff_until;
      grant = run.grant(`probe ${probe}`);
      const { lo, hi } = run.block(grant, 1);
      for (let unit = lo; unit < hi; unit++) run.commit(grant, [unit], refused);
      run.leave(grant);
    }
    expect(run.head).toMatchObject({
      status: "FAILED",
      failure: { code: "endpoint_unavailable", hint: expect.stringContaining("Check that the model server is running") },
      done: 25,
    });
  });

  it("and answered nothing yet ends the run as soon as each lane has met it, unless somebody is at work who has not", () => {
    const run = RuleRun.open(200, { max_concurrent: 16 });
    const grant = run.grant("a");
    const other = run.grant("b");
    const { lo, hi } = run.block(grant, 1);
    for (let unit = lo; unit < hi; unit++) run.commit(grant, [unit], refused);
    expect(run.head.status).toBe("RUNNING");
    const late = run.block(other, 1);
    run.commit(other, [late.lo], refused);
    expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "endpoint_unavailable" }, done: hi - lo + 1 });
  });

  it("is known to executors to have answered in this generation", () => {
    const run = RuleRun.open(200);
    const grant = run.grant("a");
    expect(grant).not.toHaveProperty("answered");
    run.commit(grant, [run.block(grant, 1).lo]);
    run.leave(grant);
    expect(run.grant("b")).toMatchObject({ answered: true });
  });

  it.each([
    ["region_refused", "does not serve the place"],
    ["web_page", "answers with web pages"],
  ] as const)("counts %s like a connection that fails, and says so", (error, said) => {
    const run = RuleRun.open(200);
    for (let round = 0; round < 8 && run.head.status === "RUNNING"; round++) {
      run.now = Math.max(run.now, run.head.health.backoff_until);
      const grant = run.grant(`round ${round}`);
      for (let seq = 1; seq <= 3; seq++) {
        const answer = run.claim(grant, seq);
        if (answer.kind !== "block") break;
        for (let unit = answer.lo; unit < answer.hi; unit++) run.commit(grant, [unit], [summary({ reward: 0, error })]);
      }
      run.leave(grant);
    }
    expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "endpoint_unavailable", message: expect.stringContaining(said) } });
  });

  it("is forgiven at the first answer", () => {
    const run = RuleRun.open(200);
    const grant = run.grant("a");
    for (let seq = 1; seq <= 20; seq++) {
      const { lo, hi } = run.block(grant, seq);
      for (let unit = lo; unit < hi; unit++) run.commit(grant, [unit], unit % 11 === 0 ? [summary()] : refused);
    }
    expect(run.head).toMatchObject({ status: "RUNNING", health: { strikes: 0 } });
  });
});

describe("a refusal that every further call would meet", () => {
  const failure = { code: "auth_failed", message: "http://h/v1 refused the key in K" } as const;
  const refuse = (run: RuleRun, executor: string, progress?: number): { readonly pause: number | undefined; readonly beat: string } => {
    const grant = run.grant(executor);
    run.block(grant, 1);
    const answer = run.call("fail", { ...run.id(grant), failure, ...(progress === undefined ? {} : { progress }) });
    const beat = run.beat(grant);
    run.leave(grant);
    return { pause: answer.pause_ms, beat };
  };
  const answered = (run: RuleRun, executor = "good"): void => {
    const grant = run.grant(executor);
    const { lo } = run.block(grant, 1);
    run.commit(grant, [lo]);
    run.leave(grant);
  };

  it("ends a run that had no answer at once", () => {
    const run = RuleRun.open(50);
    expect(refuse(run, "a")).toEqual({ pause: undefined, beat: "abort" });
    expect(run.head).toMatchObject({ status: "FAILED", failure });
  });

  it("is one executor's own affair once others were answered: it stays away, longer each time, and its units go to others", () => {
    const run = RuleRun.open(50);
    answered(run);
    expect(refuse(run, "bad")).toEqual({ pause: 5_000, beat: "continue" });
    expect(run.head).toMatchObject({ status: "RUNNING", pending: 49 });
    run.now += 5_000;
    expect(refuse(run, "bad").pause).toBe(10_000);
    answered(run);
    run.now += 10_000;
    expect(refuse(run, "bad").pause).toBe(5_000);
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 50 });
  });

  it("ends the run when nothing but refusals came for 30 s, and a resume does what is missing", () => {
    const run = RuleRun.open(50);
    answered(run);
    refuse(run, "a");
    run.now += 29_999;
    expect(refuse(run, "b").pause).toBeGreaterThan(0);
    run.now += 1;
    expect(refuse(run, "a")).toEqual({ pause: undefined, beat: "abort" });
    expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "auth_failed", message: expect.stringContaining("nothing was answered for 30 s") } });
    run.settle();
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 49 } });
    expect(refuse(run, "a").beat).toBe("abort");
    run.settle();
    run.resume();
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 50 });
  });

  it("is no end while somebody who was not refused is at work, and answers that a beat or the refusal tells count", () => {
    const run = RuleRun.open(50);
    const slow = run.grant("slow");
    expect(refuse(run, "bad", 3).pause).toBe(5_000);
    for (let second = 0; second < 40; second += 5) {
      run.now += 5_000;
      run.beat(slow);
    }
    expect(refuse(run, "bad").pause).toBeGreaterThan(0);
    run.call("beat", { ...run.id(slow), started: [], vitals: { in_flight: 1, retries: 0, waiting: 0, paused_until: null, progress: 1 } });
    expect(run.head.health).not.toHaveProperty("refused_since");
    run.leave(slow);
    expect(refuse(run, "bad").pause).toBe(5_000);
  });

  it("is told from a failure of the run itself, which ends it at once", () => {
    const run = RuleRun.open(50);
    answered(run);
    const grant = run.grant("a");
    run.call("fail", { ...run.id(grant), failure: { code: "environment_failed", message: "broken" } });
    expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "environment_failed" } });
  });
});
