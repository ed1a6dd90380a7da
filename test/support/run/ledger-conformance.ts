import { describe, expect, it } from "vitest";
import type { RunHead } from "../../../durable-objects/run/state/head.ts";
import { newHead } from "../../../durable-objects/run/state/head.ts";
import { donesByRank } from "../../../durable-objects/run/state/by-rank.ts";
import { drawnRanks } from "../../../src/pinned-order.ts";
import type { CommitEvent, Done, Moved, Ticket } from "../../../durable-objects/run/state/ledger.ts";
import type { Block } from "../../../durable-objects/run/protocol.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import type { RunConfig } from "../../../src/config/plan/run-config.ts";
import { emptyTotals } from "../../../src/metrics/totals.ts";
import { type OpenLedger, piecesConformance } from "./ledger-pieces.ts";

/** Runs `check` on an empty ledger. */
export type WithLedger = (check: (open: OpenLedger) => void) => Promise<void>;

const config = { version: 1, run_id: "0000abcd", model: "m ✓", env_args: { text: "line\nbreak" } } as unknown as RunConfig;
const head = (): RunHead => newHead(config, "boot", null, emptyTotals(), 1_790_000_000_000);

export const ticket = (id: number, changes: Partial<Ticket> = {}): Ticket => ({
  id,
  epoch: 10 + id,
  executor: `executor-${id}`,
  joined: 1,
  boot: "boot",
  task: { kind: "units" },
  lanes: 2,
  requests: 2,
  lease_until: 5_000,
  started: [1, 2],
  alone: false,
  seq: 0,
  ...changes,
});

const block: Block = { kind: "block", lo: 3, hi: 5, alone: false, poisoned: false, wary: true, redo: [], chunks: [] };

const summary = (changes: Partial<RolloutSummary> = {}): RolloutSummary => ({
  reward: 0.1,
  error: null,
  input_tokens: 20,
  output_tokens: 10,
  truncated: false,
  metrics: {},
  ...changes,
});

const done = (unit: number, changes: Partial<Done> = {}): Done => ({
  unit,
  segment: "1-1-1",
  offset: 100 * unit,
  length: 100,
  rollouts: [summary({ reward: unit })],
  owed: false,
  ...changes,
});

const event = (seq: number, changes: Partial<CommitEvent> = {}): CommitEvent => ({
  seq,
  time: 1_790_000_000_000,
  type: "log",
  level: "INFO",
  message: `event ${seq}`,
  rollouts: 0,
  units: [],
  segment: null,
  ...changes,
});

/** What every ledger does, whatever it is made of. */
export function ledgerConformance(withLedger: WithLedger): void {
  const check = (what: string, test: (open: OpenLedger) => void): void => it(what, () => withLedger(test));

  describe("config and head", () => {
    check("come back as they were put, the last one counts", ({ ledger, reopened }) => {
      expect(ledger.head()).toBeNull();
      ledger.putConfig(config);
      ledger.putConfig({ ...config, num_examples: 7 });
      ledger.putHead(head());
      ledger.putHead({ ...head(), seq: 9, failure: { code: "timeout", message: "é" } });
      for (const each of [ledger, reopened()]) {
        expect(each.config()).toEqual({ ...config, num_examples: 7 });
        expect(each.head()).toEqual({ ...head(), seq: 9, failure: { code: "timeout", message: "é" } });
      }
    });

    check("are copies: changing what was read or put changes nothing", ({ ledger }) => {
      const mine = head();
      ledger.putHead(mine);
      mine.seq = 99;
      const read = ledger.head();
      if (read !== null) read.seq = 98;
      expect(ledger.head()?.seq).toBe(0);
    });
  });

  describe("tickets", () => {
    check("are kept by id, in order of it", ({ ledger, reopened }) => {
      ledger.putTicket(ticket(2));
      ledger.putTicket(ticket(1));
      ledger.putTicket(ticket(2, { lease_until: 9_000, started: [] }));
      for (const each of [ledger, reopened()]) expect(each.tickets()).toEqual([ticket(1), ticket(2, { lease_until: 9_000, started: [] })]);
      ledger.deleteTicket(1);
      ledger.deleteTicket(7);
      expect(ledger.tickets().map(({ id }) => id)).toEqual([2]);
    });

    check("keep the answer to their last claim until they end", ({ ledger }) => {
      ledger.putTicket(ticket(1));
      expect(ledger.lastAnswer(1)).toBeNull();
      ledger.putAnswered(ticket(1, { seq: 1 }), block);
      ledger.putTicket(ticket(1, { seq: 1, lease_until: 9_000 }));
      expect(ledger.lastAnswer(1)).toEqual(block);
      ledger.putAnswered(ticket(1, { seq: 2 }), { kind: "empty", pending: 4 });
      expect(ledger.lastAnswer(1)).toEqual({ kind: "empty", pending: 4 });
      ledger.deleteTicket(1);
      expect(ledger.lastAnswer(1)).toBeNull();
      ledger.putTicket(ticket(1));
      expect(ledger.lastAnswer(1)).toBeNull();
    });
  });

  describe("the order of the pinned examples", () => {
    check("is the data set's until a part is permuted, and forgotten with the inputs", ({ ledger, reopened }) => {
      expect(ledger.order.get().isPermuted).toBe(false);
      ledger.order.permute({ lo: 0, hi: 6 }, 3);
      ledger.order.permute({ lo: 10, hi: 12 }, 3);
      for (const each of [ledger, reopened()]) {
        const order = each.order.get();
        expect(order.parts).toEqual([
          { lo: 0, hi: 6 },
          { lo: 10, hi: 12 },
        ]);
        expect([0, 1, 2, 3, 4, 5].map((unit) => order.rankOf(unit))).toEqual([...drawnRanks({ lo: 0, hi: 6 }, 3)]);
      }
      expect(() => ledger.order.permute({ lo: 12, hi: 14 }, 4)).toThrow("by seed 3, not 4");
      ledger.clearInputs();
      for (const each of [ledger, reopened()]) expect(each.order.get().isPermuted).toBe(false);
    });

    check("is the one in which done units are read where results are sorted", ({ ledger }) => {
      ledger.putConfig({ ...config, rollouts_per_example: 1 });
      ledger.putHead({ ...head(), n: 6 });
      ledger.order.permute({ lo: 0, hi: 6 }, 3);
      ledger.putDones([done(0), done(2), done(5)]);
      expect(ledger.donesOf([5, 4, 0, 2])).toEqual([done(5), done(0), done(2)]);
      const order = ledger.order.get();
      const ranks = [...donesByRank(ledger)].map(({ unit }) => order.rankOf(unit));
      expect(ranks).toEqual([0, 2, 5].map((unit) => order.rankOf(unit)).sort((a, b) => a - b));
    });
  });

  describe("returned ranges", () => {
    check("come out lowest first", ({ ledger }) => {
      expect(ledger.firstReturned()).toBeNull();
      ledger.putReturned({ lo: 20, hi: 30 });
      ledger.putReturned({ lo: 5, hi: 6 });
      expect(ledger.firstReturned()).toEqual({ lo: 5, hi: 6 });
      ledger.deleteReturned(5);
      ledger.deleteReturned(5);
      expect(ledger.firstReturned()).toEqual({ lo: 20, hi: 30 });
      expect(ledger.returnedIn({ lo: 29, hi: 40 })).toEqual([{ lo: 20, hi: 30 }]);
      expect([ledger.returnedIn({ lo: 30, hi: 40 }), ledger.returnedIn({ lo: 0, hi: 20 })]).toEqual([[], []]);
      ledger.deleteReturned(20);
      expect(ledger.firstReturned()).toBeNull();
    });
  });

  describe("claims", () => {
    check("belong to one ticket and end with it", ({ ledger }) => {
      ledger.putClaim({ lo: 8, hi: 9, ticket: 1, epoch: 11 });
      ledger.putClaim({ lo: 0, hi: 4, ticket: 1, epoch: 11 });
      ledger.putClaim({ lo: 4, hi: 8, ticket: 2, epoch: 12 });
      expect(ledger.claimsOf(1)).toEqual([
        { lo: 0, hi: 4, ticket: 1, epoch: 11 },
        { lo: 8, hi: 9, ticket: 1, epoch: 11 },
      ]);
      ledger.deleteClaimsOf(1);
      ledger.deleteClaimsOf(3);
      expect(ledger.claimsOf(1)).toEqual([]);
      const [second] = ledger.claimsOf(2);
      if (second === undefined) throw new Error("no claim");
      expect(ledger.claimsIn({ lo: second.lo, hi: second.lo + 1 })).toEqual([second]);
      expect(ledger.claimsIn({ lo: second.hi, hi: second.hi + 10 })).toEqual([]);
      expect(ledger.claimsOf(2)).toHaveLength(1);
    });

    check("are forgotten once none of their units is open, also by a ledger that was opened in between", ({ ledger, reopened }) => {
      const claim = { lo: 10, hi: 13, ticket: 1, epoch: 11 };
      const other = { lo: 20, hi: 22, ticket: 1, epoch: 11 };
      ledger.putDones([done(21, { owed: true })]);
      ledger.putClaim(claim);
      ledger.putClaim(other);
      ledger.putDones([done(10), done(12)]);
      ledger.trimClaims(1, [10, 12]);
      expect(ledger.claimsOf(1)).toEqual([claim, other]);
      const later = reopened();
      later.putDones([done(20)]);
      later.trimClaims(1, [20]);
      later.putDones([done(11)]);
      later.trimClaims(1, [11]);
      expect(later.claimsOf(1)).toEqual([other]);
      later.putDones([done(21)]);
      later.trimClaims(1, [21]);
      for (const each of [later, reopened()]) expect(each.claimsOf(1)).toEqual([]);
    });

    check("of a transaction that throws are as before", ({ ledger, transaction }) => {
      const claim = { lo: 0, hi: 2, ticket: 1, epoch: 11 };
      ledger.putTicket(ticket(1));
      ledger.putClaim(claim);
      const failing = (): void =>
        transaction(() => {
          ledger.putDones([done(0), done(1)]);
          ledger.trimClaims(1, [0, 1]);
          ledger.putTicket(ticket(1, { seq: 9 }));
          ledger.deleteTicket(1);
          throw new Error("no");
        });
      expect(failing).toThrow("no");
      expect([ledger.claimsOf(1), ledger.ticket(1), ledger.ticket(2)]).toEqual([[claim], ticket(1), null]);
    });
  });

  describe("done units", () => {
    check("come back whole: numbers to the last digit, metrics, errors, missing rollouts", ({ ledger, reopened }) => {
      const rich = done(3, {
        rollouts: [
          summary({ reward: 0.1 + 0.2, metrics: { similarity: 1 / 3, "num turns": 2 }, final_input_tokens: 5, final_output_tokens: 6 }),
          null,
          summary({ reward: 0, error: "rate_limited", truncated: true, metrics: { "num turns": 0 } }),
        ],
      });
      ledger.putDone(rich);
      ledger.putDone(done(4, { rollouts: [summary({ metrics: { other: 1 } })] }));
      ledger.putDone(done(5, { rollouts: [] }));
      for (const each of [ledger, reopened()]) {
        expect(each.done(3)).toEqual(rich);
        expect(each.done(4)).toEqual(done(4, { rollouts: [summary({ metrics: { other: 1 } })] }));
        expect(each.done(5)).toEqual(done(5, { rollouts: [] }));
        expect(each.done(6)).toBeNull();
      }
    });

    check("are replaced by a later put", ({ ledger }) => {
      ledger.putDone(done(3));
      ledger.putDone(done(3, { segment: "2-9-1", rollouts: [summary({ reward: 1 })] }));
      expect([...ledger.doneFrom(0)]).toEqual([done(3, { segment: "2-9-1", rollouts: [summary({ reward: 1 })] })]);
    });

    check("are found by range, ascending, settled and owed told apart", ({ ledger }) => {
      for (const unit of [9, 2, 5, 3]) ledger.putDone(done(unit, { owed: unit === 5 || unit === 9 }));
      expect(ledger.placesIn({ lo: 3, hi: 9 })).toEqual([
        { unit: 3, segment: "1-1-1", offset: 300, length: 100, owed: false },
        { unit: 5, segment: "1-1-1", offset: 500, length: 100, owed: true },
      ]);
      expect(ledger.settledIn({ lo: 0, hi: 9 })).toEqual([2, 3]);
      expect(ledger.owedIn({ lo: 0, hi: 10 })).toEqual([done(5, { owed: true }), done(9, { owed: true })]);
      expect([ledger.placesIn({ lo: 6, hi: 6 }), ledger.settledIn({ lo: 4, hi: 5 }), ledger.owedIn({ lo: 0, hi: 5 })]).toEqual([[], [], []]);
      expect([...ledger.doneFrom(4)].map(({ unit }) => unit)).toEqual([5, 9]);
      ledger.putDones([done(10, { rollouts: [summary({ error: "timeout", reward: 0 }), summary()] }), done(11, { rollouts: [null, summary()] })]);
      expect([11, 12].map((hi) => ledger.failedIn({ lo: 0, hi }).map(({ unit }) => unit))).toEqual([[10], [10, 11]]);
    });

    check("are scanned lazily and completely, in pages or not, also while they are changed", ({ ledger }) => {
      for (let unit = 0; unit < 1_500; unit++) ledger.putDone(done(unit));
      const seen: number[] = [];
      for (const each of ledger.doneFrom(10)) {
        seen.push(each.unit);
        if (each.unit % 100 === 0) ledger.putDone({ ...each, owed: true });
      }
      expect(seen).toEqual(Array.from({ length: 1_490 }, (_, index) => index + 10));
      expect(ledger.owedIn({ lo: 0, hi: 1_500 })).toHaveLength(14);
    });
  });

  describe("suspects", () => {
    check("are kept by unit; the waiting ones come out ascending", ({ ledger }) => {
      expect(ledger.suspect(1)).toBeNull();
      ledger.putSuspect({ unit: 7, lapses: 2, alone: 0, waiting: true });
      ledger.putSuspect({ unit: 1, lapses: 1, alone: 0, waiting: false });
      ledger.putSuspect({ unit: 4, lapses: 2, alone: 1, waiting: true });
      expect(ledger.waitingSuspects().map(({ unit }) => unit)).toEqual([4, 7]);
      ledger.putSuspect({ unit: 4, lapses: 2, alone: 2, waiting: false });
      expect(ledger.suspect(4)).toEqual({ unit: 4, lapses: 2, alone: 2, waiting: false });
      expect(
        ledger
          .suspectsIn({ lo: 1, hi: 7 })
          .map(({ unit }) => unit)
          .sort(),
      ).toEqual([1, 4]);
      ledger.deleteSuspect(4);
      ledger.deleteSuspect(4);
      expect(ledger.suspect(4)).toBeNull();
    });
  });

  piecesConformance(check, { head, done });

  describe("input chunks", () => {
    check("are those that touch a range", ({ ledger }) => {
      const chunks = [0, 10, 20].map((lo) => ({ lo, hi: lo + 10, digest: `d${lo}`, bytes: 1_000 }));
      ledger.putChunks(chunks);
      expect(ledger.chunksIn({ lo: 9, hi: 11 })).toEqual(chunks.slice(0, 2));
      expect(ledger.chunksIn({ lo: 10, hi: 20 })).toEqual(chunks.slice(1, 2));
      expect(ledger.chunksIn({ lo: 30, hi: 40 })).toEqual([]);
    });
  });

  describe("moved segments", () => {
    const move = (segment: string, changes: Partial<Moved> = {}): Moved => ({ segment, target: "9-9-1", start: 1_000, length: 200, ...changes });

    check("are remembered by the first that was said of them, and say where rows are", ({ ledger, transaction, reopened }) => {
      expect(ledger.movedOf(["1-1-1"])).toEqual(new Map());
      ledger.putDones([done(0), done(1), done(2), done(3, { segment: "1-1-2", offset: 0 })]);
      ledger.putMoved([move("1-1-1"), move("7-7-7")]);
      ledger.putMoved([move("1-1-1", { target: "9-9-2" })]);
      expect(() =>
        transaction(() => {
          ledger.putMoved([move("1-1-2")]);
          throw new Error("no");
        }),
      ).toThrow("no");
      for (const each of [ledger, reopened()]) {
        expect(each.movedOf(["1-1-1", "1-1-2", "1-1-1"])).toEqual(new Map([["1-1-1", move("1-1-1")]]));
        // What was not copied, since it was committed later, is where it was.
        expect([...each.placesFrom(0)].map(({ segment, offset }) => `${segment} ${offset}`)).toEqual(["9-9-1 1000", "9-9-1 1100", "1-1-1 200", "1-1-2 0"]);
        expect([...each.placesFrom(2)].map(({ unit }) => unit)).toEqual([2, 3]);
        expect(each.placesIn({ lo: 0, hi: 2 }).map(({ segment, offset }) => `${segment} ${offset}`)).toEqual(["1-1-1 0", "1-1-1 100"]);
        expect(each.done(1)).toEqual(done(1));
      }
    });

    check("are found by the events of their commits, oldest first", ({ ledger, reopened }) => {
      ledger.putEvent(event(1));
      for (const seq of [2, 3, 4]) ledger.putEvent(event(seq, { type: "commit", units: [seq], segment: `1-1-${seq}` }));
      for (const each of [ledger, reopened()])
        expect(each.commitsAfter(2, 1).map(({ seq, units, segment }) => [seq, units, segment])).toEqual([[3, [3], "1-1-3"]]);
    });
  });

  describe("a transaction that throws", () => {
    check("leaves everything as it was", ({ ledger, transaction, reopened }) => {
      const fill = (n: number): void => {
        ledger.putConfig({ ...config, num_examples: n });
        ledger.putHead({ ...head(), seq: n });
        ledger.putAnswered(ticket(n, { seq: n }), { kind: "empty", pending: n });
        ledger.putReturned({ lo: n, hi: n + 1 });
        ledger.putClaim({ lo: n, hi: n + 1, ticket: n, epoch: n });
        ledger.putDone(done(n, { rollouts: [summary({ metrics: { [`metric ${n}`]: n } })] }));
        ledger.putSuspect({ unit: n, lapses: 1, alone: 0, waiting: true });
        ledger.putChunks([{ lo: n, hi: n + 1, digest: `d${n}`, bytes: 1 }]);
        ledger.putPieces(`1-${n}-1`, [{ unit: 50 + n, offset: 0, length: 1, rollouts: [0] }]);
        ledger.putEvent(event(n));
      };
      transaction(() => fill(1));
      expect(() =>
        transaction(() => {
          fill(2);
          ledger.deleteTicket(1);
          ledger.deleteReturned(1);
          ledger.deleteClaimsOf(1);
          ledger.deleteSuspect(1);
          ledger.dropPieces([51]);
          throw new Error("power cut");
        }),
      ).toThrow("power cut");
      for (const each of [ledger, reopened()]) {
        expect(each.config().num_examples).toBe(1);
        expect(each.head()?.seq).toBe(1);
        expect(each.tickets().map(({ id }) => id)).toEqual([1]);
        expect(each.lastAnswer(1)).toEqual({ kind: "empty", pending: 1 });
        expect(each.firstReturned()).toEqual({ lo: 1, hi: 2 });
        expect(each.claimsOf(1)).toHaveLength(1);
        expect([...each.doneFrom(0)].map(({ unit }) => unit)).toEqual([1]);
        expect(each.waitingSuspects().map(({ unit }) => unit)).toEqual([1]);
        expect(each.chunksIn({ lo: 0, hi: 9 })).toHaveLength(1);
        expect(each.piecesIn({ lo: 50, hi: 60 }).map(({ unit }) => unit)).toEqual([51]);
      }
      // The event's number is free again.
      transaction(() => ledger.putEvent(event(2)));
      transaction(() => ledger.putDone(done(2, { rollouts: [summary({ metrics: { later: 2 } })] })));
      expect(reopened().done(2)?.rollouts).toEqual([summary({ metrics: { later: 2 } })]);
    });
  });
}
