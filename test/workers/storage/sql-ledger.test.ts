import { reset, runInDurableObject } from "cloudflare:test";
import { afterEach, describe, expect, it } from "vitest";
import { referencedSegments } from "../../../durable-objects/run/course/referenced.ts";
import { SqlLedger } from "../../../durable-objects/run/state/sql-ledger.ts";
import { batchingConformance } from "../../support/run/batching-conformance.ts";
import { ledgerConformance, type WithLedger } from "../../support/run/ledger-conformance.ts";
import { spanConformance } from "../../support/run/span-conformance.ts";
import { stoppingConformance } from "../../support/run/stopping-conformance.ts";
import { rawRun } from "../support/service.ts";

const inStorage = <T>(check: (state: DurableObjectState) => T): Promise<T> => runInDurableObject(rawRun("0000abcd"), (_, state) => check(state));

afterEach(() => reset());

const withLedger: WithLedger = (check) =>
  inStorage(({ storage }) => {
    const ledger = new SqlLedger(storage.sql);
    ledger.migrate();
    check({
      ledger,
      reopened: () => new SqlLedger(storage.sql),
      transaction: (change) => {
        try {
          return storage.transactionSync(change);
        } catch (thrown) {
          ledger.forgetCached();
          throw thrown;
        }
      },
    });
  });
ledgerConformance(withLedger);
spanConformance(withLedger);
stoppingConformance(withLedger);
batchingConformance(withLedger);

describe("spans that a version without them left behind", () => {
  it("are forgotten as they are read: of a grant that has ended, and of a unit that another has whole", () =>
    inStorage(({ storage }) => {
      const ledger = new SqlLedger(storage.sql);
      ledger.migrate();
      const ticket = {
        executor: "e",
        joined: 1,
        boot: "b",
        task: { kind: "units" },
        lanes: 1,
        requests: 1,
        lease_until: 1,
        started: [],
        alone: false,
        seq: 0,
      } as const;
      ledger.putTicket({ ...ticket, id: 1, epoch: 11 });
      ledger.putTicket({ ...ticket, id: 2, epoch: 12 });
      for (const unit of [3, 4, 5]) ledger.putClaim({ lo: unit, hi: unit + 1, ticket: unit === 4 ? 2 : 1, epoch: unit === 4 ? 12 : 11 });
      const spans = [3, 4, 5].map((unit) => ({ unit, lo: 0, hi: 8, ticket: 1, epoch: unit === 5 ? 9 : 11 }));
      for (const span of spans) ledger.spans.put(span);
      expect([...new SqlLedger(storage.sql).spans.byUnit().keys()]).toEqual([3]);
      expect(storage.sql.exec("SELECT unit FROM span").toArray()).toEqual([{ unit: 3 }]);
    }));
});

describe("tables of a run", () => {
  it("are made by the first write only", () =>
    inStorage(({ storage }) => {
      const ledger = new SqlLedger(storage.sql);
      expect([ledger.exists(), ledger.exists()]).toEqual([false, false]);
      expect(storage.sql.exec("SELECT name FROM sqlite_master WHERE name NOT LIKE '\\_cf%' ESCAPE '\\'").toArray()).toEqual([]);
      ledger.migrate();
      expect([ledger.exists(), ledger.isBuried(), ledger.head()]).toEqual([true, false, null]);
      ledger.bury();
      expect([ledger.exists(), ledger.isBuried()]).toEqual([true, true]);
    }));

  it.each([
    ["schema", "99"],
    ["head", '{"version":99}'],
    ["config", '{"version":99}'],
  ])("whose %s is of another version are refused by name", (record, value) =>
    inStorage(({ storage }) => {
      const ledger = new SqlLedger(storage.sql);
      ledger.migrate();
      storage.sql.exec("INSERT OR REPLACE INTO record (key, value) VALUES (?, ?)", record, value);
      const later = new SqlLedger(storage.sql);
      const read = (): unknown => [later.exists(), record === "head" ? later.head() : later.config()];
      expect(read).toThrow(expect.objectContaining({ code: "stored_version_unknown" }));
    }),
  );

  it("name the segments that hold rows which count, looked through in turns", () =>
    inStorage(async ({ storage }) => {
      const ledger = new SqlLedger(storage.sql);
      ledger.migrate();
      for (const [unit, segment] of [
        [0, "1-1-1"],
        [1, "1-1-1"],
        [2, "1-2-1"],
        [2, "1-3-1"],
      ] as const) {
        ledger.putDone({ unit, segment, offset: 0, length: 1, rollouts: [], owed: false });
      }
      const following = (name: string, limit: number): Promise<readonly string[]> =>
        referencedSegments(ledger, ledger.pieceSegments(), { after: name, limit }, async () => true);
      expect(await following("", 10)).toEqual(["1-1-1", "1-3-1"]);
      expect(await following("", 1)).toEqual(["1-1-1"]);
      expect(await following("1-1-1", 1)).toEqual(["1-3-1"]);
    }));
});
