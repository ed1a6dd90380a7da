import { describe, expect, it } from "vitest";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const settled = (n: number, changes: ConstructorParameters<typeof RuleRun>[0] = {}): RuleRun => {
  const run = RuleRun.open(n, changes);
  run.work();
  run.settle();
  return run;
};

describe("a resume", () => {
  it("is refused while the run works, or while its open units end, and may be asked again", () => {
    const run = RuleRun.open(10);
    expect(run.resume()).toMatchObject({ ok: false, error: { code: "run_busy" } });
    const grant = run.grant("a");
    run.block(grant, 1);
    run.call("interrupt", null);
    expect(run.beat(grant)).toBe("abort");
    expect(run.resume()).toMatchObject({ ok: false, error: { code: "run_busy" } });
    run.leave(grant);
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 10 } });
    expect(run.head).toMatchObject({ generation: 2, phase: "open", status: "RUNNING", interrupted: false });
  });

  it("of an attended run whose boot is gone goes on where it was", () => {
    const run = RuleRun.open(10, { attended: true });
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0, 1]);
    run.boot = "boot-2";
    expect(run.join("b")).toEqual({ kind: "none" });
    expect(run.head.offer.want).toBe(0);
    expect(run.resume({ attended: true })).toMatchObject({ ok: true, value: { owed_rollouts: 8 } });
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 10, totals: { rollouts: 10 } });
  });

  it("with nothing owed changes nothing", () => {
    const run = settled(3);
    const before = run.head;
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 0, warnings: [] } });
    expect(run.head).toEqual(before);
  });

  it("of another evaluation is refused, naming every field with both values", () => {
    const run = settled(3);
    const refused = run.resume({
      expect: { env_id: "gsm8k", model: "other", rollouts_per_example: 4, env_args: { a: 1 }, sampling_args: { temperature: 1 }, env_version: "9" },
    });
    expect(refused).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
    const message = refused.ok ? "" : refused.error.message;
    expect(message).toContain('model: the run has "openai/gpt-4.1-mini", this command "other"');
    expect(message).toContain("rollouts_per_example: the run has 1, this command 4");
    expect(message).toContain('env_args: the run has {}, this command {"a":1}');
    expect(message).toContain('sampling_args: the run has {"max_tokens":null}, this command {"temperature":1}');
    expect(message).toContain("env_version");
    expect(message).not.toContain("env_id");
  });

  it("with other options of the environment is refused, where the run has none too", () => {
    const refused = settled(3).resume({ expect: { extra_env_kwargs: { max_turns: 2 } } });
    expect(refused).toMatchObject({ ok: false, error: { message: expect.stringContaining('extra_env_kwargs: the run has {}, this command {"max_turns":2}') } });
  });

  it("of a shuffled run agrees on its seed, and does not grow", () => {
    const run = RuleRun.open(3, { shuffle_seed: 7, num_examples: 3 });
    run.call("interrupt", null);
    expect(run.resume({ expect: { shuffle_seed: 8 } })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("shuffle_seed: the run has 7, this command 8") },
    });
    expect(run.resume({ num_examples: 5 })).toMatchObject({ ok: false, error: { code: "resume_mismatch", message: expect.stringContaining("cannot grow") } });
    expect(run.resume({ expect: { shuffle_seed: 7 } })).toMatchObject({ ok: true });
    expect(settled(3).resume({ expect: { shuffle_seed: 0 } })).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining("shuffle_seed: the run has null") },
    });
  });

  it("keeps headers, options and log level, and takes other headers and another level", () => {
    const stored = {
      headers: { "X-A": "1" },
      headers_from_state: { "X-B": "task" },
      extra_env_kwargs: { max_turns: 2 },
      max_concurrent_scoring: 3,
      priority: 0.5,
      limits: [{ base_url: "https://a.example", limits: { requests: 5 } }],
      verbose: true,
    };
    const run = RuleRun.open(3, stored);
    run.call("interrupt", null);
    run.resume({ expect: { extra_env_kwargs: { max_turns: 2 } } });
    expect(run.ledger.config()).toMatchObject(stored);
    run.call("interrupt", null);
    run.resume({ headers: { "X-C": "2" }, verbose: false, max_concurrent_scoring: 0, priority: 4, limits: [] });
    expect(run.ledger.config()).toMatchObject({ ...stored, headers: { "X-C": "2" }, verbose: false, max_concurrent_scoring: 0, priority: 4, limits: [] });
    expect(run.ledger.config().headers).toEqual({ "X-C": "2" });
  });

  it("keeps the limit that it has with others of its command, until another command says one, or max_concurrent", () => {
    const common_limit = { id: "first", concurrent: 3 };
    const run = RuleRun.open(3, { max_concurrent: 3, common_limit });
    run.call("interrupt", null);
    run.resume();
    expect(run.ledger.config()).toMatchObject({ max_concurrent: 3, common_limit });
    run.call("interrupt", null);
    run.resume({ max_concurrent: 5, common_limit: { id: "second", concurrent: 5 } });
    expect(run.ledger.config()).toMatchObject({ max_concurrent: 5, common_limit: { id: "second", concurrent: 5 } });
    run.call("interrupt", null);
    run.resume({ max_concurrent: 64 });
    expect(run.ledger.config().max_concurrent).toBe(64);
    expect(run.ledger.config()).not.toHaveProperty("common_limit");
  });

  it("keeps how it uses the cache, until another command says otherwise", () => {
    const run = RuleRun.open(3, { cache: { mode: "read-write", days: 7 } });
    const resumed = (request: Parameters<typeof run.resume>[0]) => {
      run.call("interrupt", null);
      run.resume(request);
      return run.ledger.config().cache;
    };
    expect(resumed({})).toEqual({ mode: "read-write", days: 7 });
    expect(resumed({ cache_days: 2 })).toEqual({ mode: "read-write", days: 2 });
    expect(resumed({ cache: "read" })).toEqual({ mode: "read", days: 2 });
    expect(resumed({ cache: "off" })).toBeUndefined();
    expect(resumed({ cache: "read-write" })).toEqual({ mode: "read-write", days: 30 });
  });

  it("keeps its replicas, unless it names another endpoint or key", () => {
    const replicas = [
      { base_url: "https://a.example/v1", api_key_var: "A_KEY" },
      { base_url: "https://b.example/v1", api_key_var: "A_KEY" },
    ];
    const resumed = (changes: Parameters<RuleRun["resume"]>[0]) => {
      const run = RuleRun.open(3, { replicas, base_url: "https://a.example/v1", api_key_var: "A_KEY" });
      run.call("interrupt", null);
      run.resume(changes);
      return run.ledger.config();
    };
    expect(resumed({ base_url: "https://a.example/v1" }).replicas).toEqual(replicas);
    expect(resumed({ base_url: "https://c.example/v1" })).not.toHaveProperty("replicas");
    expect(resumed({ api_key_var: "B_KEY" })).not.toHaveProperty("replicas");
  });

  it("with another endpoint warns and takes it", () => {
    const run = RuleRun.open(3);
    run.call("interrupt", null);
    const resumed = run.resume({ base_url: "http://127.0.0.1:9/v1" });
    expect(resumed).toMatchObject({ ok: true, value: { warnings: [expect.stringContaining("http://127.0.0.1:9/v1")] } });
    expect(run.ledger.config().base_url).toBe("http://127.0.0.1:9/v1");
  });

  it("after a time-out has its full time again", () => {
    const run = RuleRun.open(3, { timeout_minutes: 1 });
    run.now += 60_000;
    run.call("wake", null);
    run.settle();
    expect(run.head.status).toBe("TIMEOUT");
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 3 } });
    run.grant("a");
    expect(run.head.deadline_at).toBe(run.now + 60_000);
  });
});

describe("growth", () => {
  it("prepares the further rows, checks the first against their digest, and runs nothing again", () => {
    const run = settled(3);
    expect(run.resume({ num_examples: 5 })).toMatchObject({ ok: true, value: { owed_rollouts: 2 } });
    expect(run.head.phase).toBe("preparing");
    const grant = run.pin(5);
    expect(grant.task).toMatchObject({ kind: "prepare", pinned: { count: 3, digest: "digest of 3" } });
    expect(run.head).toMatchObject({ n: 5, pending: 2, done: 3 });
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 5, totals: { rollouts: 5 } });
  });

  it("to fewer examples is refused", () => {
    const run = settled(5);
    expect(run.resume({ num_examples: 3 })).toMatchObject({
      ok: false,
      error: { code: "resume_mismatch", message: "num_examples: the run has 5, this command 3; a run can only grow." },
    });
  });

  it("finds that the data set shrank", () => {
    const run = settled(5);
    run.resume({ num_examples: 8 });
    run.pin(4);
    expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "dataset_changed" }, n: 5, done: 5 });
  });

  it("of a data set without further rows ends as it was", () => {
    const run = settled(5, { num_examples: 5 });
    run.resume({ num_examples: 50 });
    run.pin(5);
    expect(run.head).toMatchObject({ status: "COMPLETED", n: 5, done: 5 });
    run.settle();
    // All there are have been asked for: nothing is owed any more.
    expect(run.resume({ num_examples: 50 })).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
  });

  it.each(["interrupt", "cancel"] as const)("that was stopped before it was pinned (%s) is made up for by the next resume", (stop) => {
    const run = settled(3);
    run.resume({ num_examples: 5 });
    run.call(stop, null);
    if (stop === "cancel") run.settle();
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 2 } });
    run.pin(5);
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", n: 5, done: 5 });
  });
});

describe("an interruption", () => {
  it("gives up open units, keeps what was committed, and suspends", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [0]);
    run.call("interrupt", null);
    expect(run.beat(grant)).toBe("abort");
    run.leave(grant);
    expect(run.head).toMatchObject({ status: "RUNNING", phase: "open", done: 1, pending: 9, offer: { want: 0 } });
    expect(run.call("interrupt", null)).toMatchObject({ ok: true });
  });

  it("of a run that ended is refused", () => {
    expect(settled(1).call("interrupt", null)).toMatchObject({ ok: false, error: { code: "illegal_transition" } });
  });
});

describe("a repair", () => {
  const mixed = (unit: number) => [
    summary({ reward: 0, error: unit === 1 ? "rate_limited" : null }),
    summary({ reward: 1, error: unit === 2 ? "bad_request" : null }),
    summary({ reward: 0, error: unit === 3 ? "timeout" : null }),
  ];
  const errored = (): RuleRun => {
    const run = RuleRun.open(5, { rollouts_per_example: 3 });
    run.work(mixed);
    run.settle();
    return run;
  };

  it("runs again the rollouts that ended in an infrastructure error, and no other", () => {
    const run = errored();
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 2 } });
    const grant = run.grant("a");
    const blocks = [run.block(grant, 1, { free: 5 }), run.block(grant, 2, { free: 5 })];
    expect(blocks.flatMap(({ redo }) => redo.map(({ unit, keep }) => [unit, keep]))).toEqual([
      [1, [1, 2]],
      [3, [0, 1]],
    ]);
    expect(run.claim(grant, 3)).toMatchObject({ kind: "empty", pending: 0 });
  });

  it("replaces summaries and their share of the totals when it is committed, not before", () => {
    const run = errored();
    run.resume();
    expect(run.head.totals).toMatchObject({ rollouts: 15, errors: { rate_limited: 1, bad_request: 1, timeout: 1 } });
    run.work(() => [summary(), summary(), summary()]);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 5, totals: { rollouts: 15, errors: { bad_request: 1 } } });
    expect(run.head.totals.reward_sum).toBe(3 + 6);
  });

  it("that is cancelled loses nothing, and is owed still", () => {
    const run = errored();
    run.resume();
    run.call("cancel", null);
    run.settle();
    expect(run.head.totals.rollouts).toBe(15);
    expect([...run.ledger.doneFrom(0)].map(({ unit }) => unit)).toEqual([0, 1, 2, 3, 4]);
    expect(run.resume()).toMatchObject({ ok: true, value: { owed_rollouts: 2 } });
    run.work(() => [summary(), summary(), summary()]);
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 5, totals: { rollouts: 15, errors: { bad_request: 1 } } });
  });

  it("is left out when errors are kept", () => {
    const run = errored();
    expect(run.resume({ keep_errors: true })).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
    expect(run.head.phase).toBe("settled");
  });
});

describe("a resume of a run with batches", () => {
  it("gives who turns to them their time, keeps them where it says nothing, and leaves them where it says so", () => {
    const run = settled(3);
    run.resume({ batch: true, num_examples: 4 });
    expect(run.ledger.config()).toMatchObject({ batch: true, timeout_minutes: 1440 });
    run.call("interrupt", null);
    run.resume({ timeout_minutes: 60 });
    expect(run.ledger.config()).toMatchObject({ batch: true, timeout_minutes: 60 });
    run.call("interrupt", null);
    run.resume({ batch: false });
    expect(run.ledger.config()).toMatchObject({ timeout_minutes: 60 });
    expect(run.ledger.config()).not.toHaveProperty("batch");
  });
});
