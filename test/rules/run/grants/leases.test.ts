import { describe, expect, it } from "vitest";
import { RuleRun } from "../../../support/run/rule-run.ts";

describe("a lease", () => {
  it("is renewed until the moment it ends, and not revived by a late beat", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.now += run.timing.lease - 1;
    expect(run.beat(grant)).toBe("continue");
    run.now += run.timing.lease;
    expect(run.beat(grant)).toBe("lost");
    expect(run.claim(grant, 1)).toEqual({ kind: "lost" });
    expect(run.join("a", { seq: 2 })).toEqual({ kind: "none" });
  });

  it("that has ended frees its units and requests only after the grace", () => {
    const run = RuleRun.open(10, { max_concurrent: 4 });
    const grant = run.grant("a");
    run.block(grant, 1);
    run.now += run.timing.lease + run.timing.grace - 1;
    expect(run.join("b")).toEqual({ kind: "none" });
    run.now += 1;
    const next = run.grant("b");
    expect(next.epoch).toBeGreaterThan(grant.epoch);
    expect(run.block(next, 1)).toMatchObject({ lo: 0, hi: 4 });
    expect(run.commit(grant, [0])).toEqual(["stale"]);
    expect(run.head.lapses).toBe(1);
  });

  it("is looked after by the alarm", () => {
    const run = RuleRun.open(10);
    run.call("offered", run.head.offer.seq);
    run.call("projected", run.head.projection.version);
    run.grant("a");
    run.call("offered", run.head.offer.seq);
    expect(run.wake).toBe(run.now + run.timing.lease + run.timing.grace);
  });

  it("of an older boot ends at once, and nobody is blamed", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.beat(grant, [0, 1]);
    run.boot = "boot-2";
    const next = run.grant("b");
    expect(run.block(next, 1)).toMatchObject({ lo: 0, wary: false });
    expect(run.head.lapses).toBe(0);
    expect(run.ledger.suspects.size).toBe(0);
    expect(run.join("old", { boot: "boot-1" })).toEqual({ kind: "none" });
  });
});

describe("a ticket of a runtime that ended by itself, under a boot that goes on", () => {
  /** An executor that begins what it gets, and dies with its process; another process takes its place `after` ms later. */
  const die = (run: RuleRun, executor: string, after = 500): void => {
    const grant = run.grant(executor, 2);
    const { lo } = run.block(grant, 1);
    run.beat(grant, [lo]);
    run.runtime = `after ${executor}`;
    run.now += after;
    run.call("poke", null);
  };

  it("ends at once with all that it held, and its units are handed out again", () => {
    const run = RuleRun.open(10);
    const [first, second] = [run.grant("a", 4), run.grant("b", 4)];
    run.block(first, 1);
    run.block(second, 1);
    expect(run.join("c")).toEqual({ kind: "none" });
    run.runtime = "runtime-2";
    const next = run.grant("d", 8);
    expect(next.requests).toBe(8);
    expect(run.block(next, 1)).toMatchObject({ lo: 0 });
    expect(run.beat(first)).toBe("lost");
    expect(run.commit(second, [4])).toEqual(["stale"]);
    expect(run.join("late", { runtime: "runtime-1" })).toEqual({ kind: "none" });
  });

  it("counts as a lapse of what it had begun, so that a unit that kills is still found out", () => {
    const run = RuleRun.open(1);
    for (let death = 0; death < 5; death++) {
      const grant = run.grant(`e${death}`);
      expect(run.block(grant, 1)).toMatchObject({ lo: 0, alone: death >= 2, poisoned: false });
      run.beat(grant, [0]);
      run.runtime = `after ${death}`;
      run.now += run.timing.lease + run.timing.grace;
    }
    expect(run.block(run.grant("last"), 1)).toMatchObject({ lo: 0, poisoned: true });
  });

  it("waits for lease and grace from the third within a minute on, so that units that kill do not end the command", () => {
    const run = RuleRun.open(40);
    for (const executor of ["a", "b"]) {
      die(run, executor);
      expect(run.ledger.tickets(), executor).toEqual([]);
    }
    die(run, "c");
    expect(run.ledger.tickets()).toHaveLength(1);
    run.now += run.timing.lease + run.timing.grace;
    run.call("wake", null);
    expect(run.ledger.tickets()).toEqual([]);
    run.now += 60_000;
    die(run, "d");
    expect(run.ledger.tickets()).toEqual([]);
  });

  it("of a version that does not tell its runtime ends by lease and grace", () => {
    const run = RuleRun.open(10);
    run.grant("a");
    const [ticket] = run.ledger.tickets();
    if (ticket === undefined) throw new Error("no ticket");
    const { runtime: _, ...before } = ticket;
    run.ledger.putTicket(before);
    run.runtime = "runtime-2";
    run.call("poke", null);
    expect(run.ledger.tickets()).toHaveLength(1);
  });
});

describe("a clock that was set back while the runtime began anew", () => {
  const HOUR = 3_600_000;

  it("holds up nothing that was due: offers, back-offs and the time limit come when they would have", () => {
    const run = RuleRun.open(10, { timeout_minutes: 30 });
    run.leave(run.grant("a"));
    const { retry_at } = run.head.offer;
    const [due, deadline] = [retry_at - run.now, (run.head.deadline_at ?? 0) - run.now];
    expect(run.head.offer.due).toBe(true);
    run.now -= HOUR;
    run.call("wake", null);
    expect(run.head.offer.retry_at - run.now).toBe(due);
    expect((run.head.deadline_at ?? 0) - run.now).toBe(deadline);
    expect((run.wake ?? 0) - run.now).toBeLessThanOrEqual(60_000);
    run.now += 30 * 60_000;
    run.call("wake", null);
    expect(run.head.status).toBe("TIMEOUT");
  });

  it("lets leases end as long after their last beat as they would have", () => {
    const run = RuleRun.open(10);
    run.grant("a");
    run.now -= HOUR;
    run.call("wake", null);
    expect(run.ledger.tickets()).toHaveLength(1);
    run.now += run.timing.lease + run.timing.grace;
    run.call("wake", null);
    expect(run.ledger.tickets()).toEqual([]);
  });
});

describe("a preparation", () => {
  const lose = (run: RuleRun, executor: string): void => {
    run.grant(executor);
    run.now += run.timing.lease + run.timing.grace;
    run.call("wake", null);
  };

  it("of which nothing is heard three times in a row ends the run by name", () => {
    const run = new RuleRun();
    lose(run, "a");
    lose(run, "b");
    expect(run.head.status).toBe("PENDING");
    lose(run, "c");
    expect(run.head).toMatchObject({ status: "FAILED", failure: { code: "preparation_failed", message: expect.stringContaining("3 times") } });
  });

  it("that takes its process with it counts as well, and one that comes to its end makes good for those before", () => {
    const run = new RuleRun();
    for (const boot of ["boot-2", "boot-3"]) {
      run.grant("a");
      run.boot = boot;
      run.call("wake", null);
    }
    expect(run.head.lost_preparations).toBe(2);
    run.pin(10);
    expect(run.head.lost_preparations).toBeUndefined();
    expect(run.head.status).toBe("RUNNING");
  });
});

describe("a join", () => {
  it("whose answer was lost gets the same grant again", () => {
    const run = RuleRun.open(10);
    const first = run.join("a", { seq: 7 });
    run.now += 5_000;
    expect(run.join("a", { seq: 7 })).toEqual(first);
    expect(run.ledger.tickets()).toEqual([expect.objectContaining({ lease_until: run.now + run.timing.lease })]);
    expect(run.join("a", { seq: 6 })).toEqual({ kind: "none" });
  });

  it("with a new number ends what the executor held before", () => {
    const run = RuleRun.open(10);
    const first = run.grant("a");
    run.block(first, 1);
    const second = run.grant("a");
    expect(second.epoch).toBeGreaterThan(first.epoch);
    expect(run.ledger.tickets()).toHaveLength(1);
    expect(run.block(second, 1)).toMatchObject({ lo: 0 });
    expect(run.commit(first, [0])).toEqual(["stale"]);
  });

  it("of a run that has ended is closed; one that finds nothing to do gets none", () => {
    const run = RuleRun.open(2, { max_concurrent: 0 });
    const grant = run.grant("a");
    run.block(grant, 1);
    expect(run.join("b")).toEqual({ kind: "none" });
    run.call("cancel", null);
    expect(run.join("b")).toEqual({ kind: "closed" });
    run.leave(grant);
    expect(run.join("b")).toMatchObject({ kind: "grant", task: { kind: "finalise" } });
    expect(run.join("c")).toEqual({ kind: "none" });
  });
});

describe("a leave", () => {
  it("gives everything back at once; repeated or late it does nothing", () => {
    const run = RuleRun.open(10);
    const grant = run.grant("a");
    run.block(grant, 1);
    run.commit(grant, [1]);
    run.leave(grant);
    run.leave(grant);
    expect(run.head).toMatchObject({ pending: 9, done: 1, lapses: 0 });
    const next = run.grant("b");
    run.leave(grant);
    expect(run.block(next, 1)).toMatchObject({ lo: 0, hi: 1 });
  });
});

describe("requests of live tickets", () => {
  it.each([
    [32, 4, 5],
    [9, 4, 5],
    [2, 8, 2],
    [6, 64, 2],
    [1, 1, 64],
    [5, 3, 64],
  ])("sum to at most %i, with r = %i and executors for %i each", (max_concurrent, rollouts_per_example, free) => {
    const run = RuleRun.open(500, { max_concurrent, rollouts_per_example });
    let granted = 0;
    for (let index = 0; index < 20; index++) {
      const answer = run.join(`e${index}`, { free });
      if (answer.kind !== "grant") continue;
      granted += answer.requests;
      expect(answer.requests).toBeLessThanOrEqual(free);
      expect(answer.lanes * rollouts_per_example).toBeGreaterThanOrEqual(answer.requests);
    }
    expect(granted).toBe(max_concurrent);
  });

  it("of a run with streamed answers are as many times more as its executor can carry of them", () => {
    const run = RuleRun.open(500, { max_concurrent: 50, sampling_args: { max_tokens: null, extra_body: { stream: true } } });
    expect([run.grant("a", 5).requests, run.grant("b", 5, 4).requests]).toEqual([5, 20]);
    expect(RuleRun.open(500, { max_concurrent: 50 }).grant("a", 5, 4).requests).toBe(5);
  });

  it("of a run without a limit leave half of each executor to others", () => {
    const run = RuleRun.open(500, { max_concurrent: 0 });
    expect([run.grant("a", 64).requests, run.grant("b", 1).requests]).toEqual([32, 1]);
  });
});

describe("requests of judges", () => {
  it.each([
    [10, 40, 5],
    [3, 40, 5],
    [8, 8, 64],
    [64, 8, 5],
    [7, 0, 64],
  ])("of live tickets sum to at most %i, with %i requests and executors for %i each; every ticket has one", (max_concurrent_scoring, max_concurrent, free) => {
    const run = RuleRun.open(500, { max_concurrent, max_concurrent_scoring });
    const shares = Array.from({ length: 30 }, (_, index) => run.join(`e${index}`, { free })).flatMap((answer) =>
      answer.kind === "grant" ? [answer.scoring ?? 0] : [],
    );
    expect(shares.length).toBeGreaterThan(0);
    expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
    expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(max_concurrent_scoring);
  });

  it("go whole to the one executor that has all other requests", () => {
    expect(RuleRun.open(10, { max_concurrent: 8, max_concurrent_scoring: 3 }).grant("a", 64)).toMatchObject({ requests: 8, scoring: 3 });
  });

  it("that are all granted leave nothing to ask others for, until a ticket ends", () => {
    const run = RuleRun.open(500, { max_concurrent: 40, max_concurrent_scoring: 1 });
    const grant = run.grant("a", 5);
    expect(run.head.offer.want).toBe(0);
    expect(run.join("b", { free: 5 })).toEqual({ kind: "none" });
    run.leave(grant);
    expect(run.head.offer.want).toBeGreaterThan(0);
    expect(run.grant("b", 5).scoring).toBe(1);
  });

  it("are as many as those of the model where the run does not say", () => {
    const run = RuleRun.open(500, { max_concurrent: 12 });
    expect([run.grant("a", 5), run.grant("b", 5), run.grant("c", 5)].map(({ scoring }) => scoring)).toEqual([5, 5, 2]);
  });

  it("have no limit where the run wants none, or has none at all", () => {
    for (const changes of [{ max_concurrent_scoring: 0 }, { max_concurrent_scoring: -1 }, { max_concurrent: 0 }])
      expect(RuleRun.open(10, changes).grant("a")).not.toHaveProperty("scoring");
  });
});

describe("requests of the model below max_concurrent", () => {
  it.each([
    [8, 32, 5],
    [1, 32, 5],
    [64, 8, 5],
    [6, 0, 64],
  ])(
    "of live tickets sum to at most %i of %i, with executors for %i each; every ticket has one, and lanes for all its requests",
    (limit, max_concurrent, free) => {
      const run = RuleRun.open(500, { max_concurrent, max_concurrent_generation: limit });
      const grants = Array.from({ length: 30 }, (_, index) => run.join(`e${index}`, { free })).flatMap((answer) => (answer.kind === "grant" ? [answer] : []));
      const shares = grants.map(({ generation = 0 }) => generation);
      expect(Math.min(...shares)).toBeGreaterThanOrEqual(1);
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeLessThanOrEqual(limit);
      expect(grants.every(({ lanes, requests }) => lanes === requests)).toBe(true);
      expect(run.head.offer.want).toBe(0);
    },
  );

  it("are shared as the rest is", () => {
    const run = RuleRun.open(500, { max_concurrent: 32, max_concurrent_generation: 4, num_workers: 3 });
    expect(["a", "b", "c"].map((executor) => run.grant(executor, 64).generation)).toEqual([1, 2, 1]);
  });

  it("are not told apart where the run does not ask for it", () => {
    for (const changes of [{}, { max_concurrent_generation: 0 }]) expect(RuleRun.open(10, changes).grant("a")).not.toHaveProperty("generation");
  });
});

describe("the executors of a run", () => {
  const joined = (run: RuleRun, free: number) =>
    Array.from({ length: 12 }, (_, index) => run.join(`e${index}`, { free })).flatMap((answer) => (answer.kind === "grant" ? [answer] : []));

  it.each([
    [4, 64, [8, 8, 8, 8]],
    [3, 64, [11, 11, 10]],
    [1, 64, [32]],
    [2, 5, [5, 5]],
  ])("are %i at most, sharing its requests evenly as far as each can carry them (%i)", (num_workers, free, requests) => {
    const run = RuleRun.open(500, { max_concurrent: 32, num_workers });
    expect(joined(run, free).map((grant) => grant.requests)).toEqual(requests);
    expect(run.head.offer.want).toBe(0);
  });

  it("are as many as its requests need where it does not say", () => {
    expect(joined(RuleRun.open(500, { max_concurrent: 32 }), 5)).toHaveLength(7);
    expect(joined(RuleRun.open(500, { max_concurrent: 32 }), 64)).toHaveLength(1);
  });

  it("are no more than the service can have, so that none waits for its share in vain", () => {
    const run = RuleRun.open(500, { max_concurrent: 32, num_workers: 4 });
    run.executors = 1;
    expect(joined(run, 64).map(({ requests }) => requests)).toEqual([32]);
  });

  it("are asked for by number", () => {
    const run = RuleRun.open(500, { max_concurrent: 32, num_workers: 4 });
    expect(run.head.offer).toMatchObject({ want: 32, executors: 4 });
    run.grant("a", 64);
    expect(run.head.offer).toMatchObject({ want: 24, executors: 3 });
  });
});

describe("lanes that an environment asks for", () => {
  it("are the run's in all, one to one, whatever its requests", () => {
    const run = new RuleRun({ num_examples: 500, max_concurrent: 32 });
    run.pin(500, { concurrency: 256 });
    const grants = Array.from({ length: 9 }, (_, index) => run.join(`e${index}`, { free: 5 })).flatMap((answer) => (answer.kind === "grant" ? [answer] : []));
    expect(grants.reduce((sum, { lanes }) => sum + lanes, 0)).toBe(256);
    expect(grants.reduce((sum, { requests }) => sum + requests, 0)).toBe(32);
  });

  it("are all one executor's when it has all requests, also where those have no limit", () => {
    for (const max_concurrent of [32, 0]) {
      const run = new RuleRun({ num_examples: 500, max_concurrent });
      run.pin(500, { concurrency: 256 });
      expect(run.grant("a", 4_096).lanes).toBe(256);
    }
  });
});
