import { askedUnits } from "../batching/batch-view.ts";
import type { RunHead } from "../state/head.ts";
import type { Ledger } from "../state/ledger.ts";

/** Units that are to be asked in batches, or wait for what those answer. */
export const inBatches = (ledger: Ledger, head: RunHead): number => (head.batching?.unasked ?? 0) + askedUnits(ledger, head);

/** Units that somebody plays. */
export const openUnits = (ledger: Ledger, head: RunHead): number =>
  head.n === null ? 0 : head.n - head.done - head.pending - (head.held ?? 0) - inBatches(ledger, head);
