import { batchingConformance } from "../../../support/run/batching-conformance.ts";
import { ledgerConformance, type WithLedger } from "../../../support/run/ledger-conformance.ts";
import { MemoryLedger } from "../../../support/run/memory-ledger.ts";
import { spanConformance } from "../../../support/run/span-conformance.ts";
import { stoppingConformance } from "../../../support/run/stopping-conformance.ts";

/** The rules of a run are tested on this ledger: it must do what the real one does (test/workers/storage/sql-ledger.test.ts). */
const withLedger: WithLedger = async (check) => {
  const ledger = new MemoryLedger();
  check({ ledger, transaction: (change) => ledger.transaction(change), reopened: () => ledger });
};
ledgerConformance(withLedger);
spanConformance(withLedger);
stoppingConformance(withLedger);
batchingConformance(withLedger);
