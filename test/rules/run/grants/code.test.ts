import { describe, expect, it } from "vitest";
import type { ImportSource } from "../../../../durable-objects/run/control.ts";
import { metadataOf } from "../../../../durable-objects/run/reading/run-metadata.ts";
import { viewOf } from "../../../../durable-objects/run/reading/view.ts";
import { envDigestOf, shortDigest } from "../../../../src/config/env-digest.ts";
import { RuleRun, summary } from "../../../support/run/rule-run.ts";

const [OLD, NEW, THIRD] = ["a", "b", "c"].map((letter) => envDigestOf(letter.repeat(64))) as [string, string, string];
/** As runs of version 0.1.0 stored it. */
const BEFORE = "0".repeat(64);
const MINUTE = 60_000;

/** A run of `n` units that is pinned to code. */
function pinned(n: number, code = OLD, changes: ConstructorParameters<typeof RuleRun>[0] = {}): RuleRun {
  const run = new RuleRun({ num_examples: n, ...changes });
  run.pin(n, { env_digest: code });
  return run;
}
/** All of its units done, and settled. */
function settled(n: number, code = OLD): RuleRun {
  const run = pinned(n, code);
  run.work();
  run.settle();
  return run;
}
const view = (run: RuleRun) => viewOf(run.ledger, run.head, { in_flight: 0, retries: 0, waiting: 0, paused_until: null }, run.context);
const log = (run: RuleRun, level?: string): string[] =>
  run.ledger.events.filter((event) => event.type === "log" && (level ?? event.level) === event.level).map(({ message }) => message);
/** An executor that has `code` asks, and finds that the run has other code. */
function asks(run: RuleRun, code: string | null, executor = "stranger"): string {
  const grant = run.grant(executor);
  return run.call("otherCode", { ...run.id(grant), env_digest: code }).kind;
}
const later = (run: RuleRun, ms: number): void => {
  run.now += ms;
  run.call("wake", null);
};

describe("a grant names the code that the run is pinned to", () => {
  it("once it is pinned, and not for writing the final files", () => {
    const run = new RuleRun({ num_examples: 1 });
    const preparing = run.grant("a");
    expect(preparing).not.toHaveProperty("env_digest");
    run.leave(preparing);
    run.pin(1, { env_digest: OLD });
    const working = run.grant("a");
    expect(working).toMatchObject({ env_digest: OLD });
    run.leave(working);
    run.work();
    const finishing = run.grant("a");
    expect(finishing.task.kind).toBe("finalise");
    expect(finishing).not.toHaveProperty("env_digest");
  });

  it("and none goes to an executor that compares nothing, unless the run's digest says nothing of its code", () => {
    expect(pinned(3).join("before", { checks_code: false })).toEqual({ kind: "none" });
    expect(pinned(3, BEFORE).join("before", { checks_code: false })).toMatchObject({ kind: "grant" });
    const run = pinned(1);
    run.work();
    expect(run.join("before", { checks_code: false })).toMatchObject({ kind: "grant", task: { kind: "finalise" } });
  });
});

describe("an executor with other code", () => {
  it("loses its grant before it has claimed anything, and what it would have had is offered again after a while", () => {
    const run = pinned(10);
    expect(asks(run, NEW)).toBe("lost");
    expect(run.ledger.tickets()).toEqual([]);
    expect(run.head).toMatchObject({ pending: 10, offer: { want: 0 } });
    const first = run.head.code_wait?.retry_at ?? 0;
    expect(first).toBeGreaterThan(run.now);
    expect(run.wake).toBe(first);
    later(run, first - run.now);
    // One is enough to find out.
    expect(run.head.offer).toMatchObject({ want: 1 });
    asks(run, NEW);
    expect((run.head.code_wait?.retry_at ?? 0) - run.now).toBeGreaterThan(1_000);
    for (let times = 0; times < 10; times++) asks(run, NEW);
    expect((run.head.code_wait?.retry_at ?? 0) - run.now).toBe(MINUTE);
  });

  it("leaves the run RUNNING and waiting, which its view and one line of its log say with both digests", () => {
    const run = pinned(10);
    expect(view(run)).not.toHaveProperty("waiting_for");
    const since = run.now;
    asks(run, NEW);
    later(run, MINUTE);
    asks(run, THIRD);
    expect(view(run)).toMatchObject({ status: "RUNNING", waiting_for: { env_digest: OLD, found: THIRD, until: since + 10 * MINUTE } });
    expect(log(run, "WARNING")).toEqual([expect.stringMatching(new RegExp(`${shortDigest(OLD)}.*${shortDigest(NEW)}.*code_changed`))]);
  });

  it("for ten minutes ends the run code_changed, with what it has, and a resume with the right code finishes it", () => {
    const run = pinned(10);
    const right = run.grant("right");
    run.block(right, 1, { free: 4 });
    run.commit(right, [0, 1, 2, 3]);
    run.leave(right);
    asks(run, null);
    later(run, 10 * MINUTE - 1);
    expect(run.head.status).toBe("RUNNING");
    expect(run.wake).toBe(run.now + 1);
    later(run, 1);
    expect(run.head).toMatchObject({
      status: "FAILED",
      done: 4,
      failure: { code: "code_changed", message: expect.stringContaining("no environment of that name") },
    });
    expect(run.head.failure?.hint).toContain("--accept-code-change");
    run.settle();
    expect(run.resume({ env_digest: OLD })).toMatchObject({ ok: true, value: { owed_rollouts: 6, warnings: [] } });
    run.work();
    expect(run.head).toMatchObject({ status: "COMPLETED", done: 10 });
  });

  it("waits anew where one with the run's code came between", () => {
    const run = pinned(10);
    asks(run, NEW);
    later(run, 9 * MINUTE);
    const right = run.grant("right");
    expect(view(run)).toHaveProperty("waiting_for");
    run.block(right, 1, { free: 2 });
    expect(view(run)).not.toHaveProperty("waiting_for");
    expect(log(run, "INFO").at(-1)).toContain("the run goes on");
    run.leave(right);
    asks(run, NEW);
    later(run, 9 * MINUTE);
    expect(run.head.status).toBe("RUNNING");
    later(run, MINUTE);
    expect(run.head.status).toBe("FAILED");
  });

  it("beside others that work counts for nothing but a pause", () => {
    const run = pinned(100, OLD, { max_concurrent: 8 });
    const right = run.grant("right", 4);
    run.block(right, 1);
    asks(run, NEW);
    expect(view(run)).not.toHaveProperty("waiting_for");
    expect(run.head.offer.want).toBe(0);
    later(run, MINUTE);
    run.beat(right);
    expect(run.head.offer.want).toBeGreaterThan(1);
    expect(log(run, "WARNING")).toEqual([]);
  });

  it("is not waited for in a run that is interrupted, cancelled or at its end", () => {
    for (const end of ["interrupt", "cancel"] as const) {
      const run = pinned(10);
      asks(run, NEW);
      run.call(end, null);
      later(run, 20 * MINUTE);
      expect(run.head.status).toBe(end === "cancel" ? "CANCELLED" : "RUNNING");
      expect(view(run)).not.toHaveProperty("waiting_for");
    }
  });
});

describe("a resume with other code", () => {
  it("is refused where rollouts would be made, naming both digests and the flag, and changes nothing", () => {
    const run = settled(3);
    const before = run.head;
    const refused = run.resume({ num_examples: 4, env_digest: NEW });
    expect(refused).toMatchObject({ ok: false, error: { code: "resume_mismatch", hint: expect.stringContaining("--accept-code-change") } });
    expect(refused.ok ? "" : refused.error.message).toMatch(new RegExp(`env_digest: .*${shortDigest(OLD)}.*${shortDigest(NEW)}`));
    expect(run.head).toEqual(before);
    expect(run.ledger.config().num_examples).toBe(3);
  });

  it("and nothing left to do is none", () => {
    const run = settled(3);
    const before = run.head;
    expect(run.resume({ env_digest: NEW })).toMatchObject({ ok: true, value: { owed_rollouts: 0 } });
    expect(run.head).toEqual(before);
  });

  it("that is accepted pins the run to it: new rows are marked, and view and metadata count the rollouts of each", async () => {
    const run = settled(3);
    expect(run.resume({ num_examples: 5, env_digest: NEW, accept_code_change: true })).toMatchObject({
      ok: true,
      value: { warnings: [expect.stringMatching(new RegExp(`${shortDigest(OLD)}.*${shortDigest(NEW)}`))] },
    });
    expect(log(run, "WARNING")).toHaveLength(1);
    run.pin(5, { env_digest: NEW });
    const grant = run.grant("right");
    expect(grant).toMatchObject({ env_digest: NEW, marked: true });
    run.block(grant, 1);
    run.commit(grant, [3, 4], [summary({ env_digest: NEW })]);
    run.leave(grant);
    expect(view(run)).toMatchObject({ env_digest: NEW, env_digests: { [OLD]: 3, [NEW]: 2 } });
    run.settle();
    const metadata = await metadataOf(run.ledger, async () => true);
    expect(metadata?.edgewise).toMatchObject({ env_digest: NEW, env_digests: { [OLD]: 3, [NEW]: 2 } });
    // From here on the other is the run's code, and the first one is another.
    expect(run.resume({ num_examples: 6, env_digest: NEW })).toMatchObject({ ok: true });
    run.call("interrupt", null);
    expect(run.resume({ env_digest: OLD })).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
  });

  it("counts a repaired rollout where it was made", () => {
    const run = pinned(2);
    run.work((unit) => [summary(unit === 1 ? { reward: 0, error: "provider_error" } : {})]);
    run.settle();
    run.resume({ env_digest: NEW, accept_code_change: true });
    run.work(() => [summary({ env_digest: NEW })]);
    expect(view(run).env_digests).toEqual({ [OLD]: 1, [NEW]: 1 });
  });

  it("of a door that compares nothing goes on with the run's code", () => {
    const run = settled(3);
    expect(run.resume({ num_examples: 4 })).toMatchObject({ ok: true, value: { warnings: [] } });
    run.pin(4, { env_digest: OLD });
    expect(run.grant("right")).toMatchObject({ env_digest: OLD });
  });
});

describe("a run whose digest says nothing of its code", () => {
  it("is resumed once, marked, and is of that code from then on", async () => {
    const run = settled(2, BEFORE);
    expect(run.resume({ num_examples: 3, env_digest: NEW })).toMatchObject({ ok: true, value: { warnings: [expect.stringContaining("kept no digest")] } });
    run.pin(3, { env_digest: NEW });
    run.work(() => [summary({ env_digest: NEW })]);
    run.settle();
    expect((await metadataOf(run.ledger, async () => true))?.edgewise.env_digests).toEqual({ [BEFORE]: 2, [NEW]: 1 });
    expect(run.resume({ num_examples: 4, env_digest: THIRD })).toMatchObject({ ok: false, error: { code: "resume_mismatch" } });
  });

  it("and works is pinned to the code of the first executor that compares, and to no other", () => {
    const run = pinned(10, BEFORE);
    expect(asks(run, NEW)).toBe("ok");
    expect(run.head).toMatchObject({ env_digest: NEW, env_digests: [BEFORE, NEW] });
    expect(asks(run, THIRD, "another")).toBe("lost");
    expect(run.grant("third")).toMatchObject({ env_digest: NEW, marked: true });
  });
});

describe("a folder that a run is made of again", () => {
  const folder = (env_digests: readonly string[], code_changed = false): ImportSource => ({
    results: "r".repeat(64),
    dataset_digest: null,
    keep_errors: false,
    env_digests,
    ...(code_changed ? { code_changed } : {}),
  });
  const adopting = (source: ImportSource, rows: readonly (string | null)[]): RuleRun => {
    const run = new RuleRun({ num_examples: rows.length + 1 }, source);
    run.pin(rows.length + 1, { env_digest: source.env_digests?.at(-1) ?? "e" });
    const grant = run.adopter();
    const units = rows.map((digest, unit) => ({ unit, offset: 0, length: 10, rollouts: [summary(digest === null ? {} : { env_digest: digest })] }));
    run.call("adopt", { ...run.id(grant), segment: "1-1-1", units, part: 0, through: rows.length });
    run.call("adopted", run.id(grant));
    return run;
  };

  it("is of its code before the data is read", () => {
    expect(new RuleRun({}, folder([OLD])).grant("a")).toMatchObject({ task: { kind: "prepare" }, env_digest: OLD });
  });

  it("goes on without a mark where the code is the same", () => {
    const run = adopting(folder([OLD]), [null, null]);
    expect(run.grant("a")).not.toHaveProperty("marked");
    expect(view(run)).not.toHaveProperty("env_digests");
    expect(log(run, "WARNING")).toEqual([]);
  });

  it("keeps the marks of its rows, and says what changed", () => {
    const run = adopting(folder([OLD, NEW, THIRD], true), [null, NEW, NEW]);
    expect(log(run, "WARNING")).toEqual([expect.stringMatching(new RegExp(`${shortDigest(NEW)}.*${shortDigest(THIRD)}`))]);
    expect(run.grant("a")).toMatchObject({ env_digest: THIRD, marked: true });
    run.work(() => [summary({ env_digest: THIRD })]);
    expect(view(run).env_digests).toEqual({ [OLD]: 1, [NEW]: 2, [THIRD]: 1 });
  });
});
