import { evictDurableObject, runInDurableObject } from "cloudflare:test";
import type { Done } from "../../../durable-objects/run/state/ledger.ts";
import type { RolloutSummary } from "../../../src/metrics/rollout-summary.ts";
import { runsOf } from "../../../durable-objects/run/state/runs-of.ts";
import { SqlLedger } from "../../../durable-objects/run/state/sql-ledger.ts";
import { segmentKey, segmentName } from "../../../r2-layout/keys.ts";
import { ORDER_SEED, type RunConfig } from "../../../src/config/plan/run-config.ts";
import { PERMUTED_ROWS } from "../../../src/limits.ts";
import { PinnedOrder } from "../../../src/pinned-order.ts";
import { addUnit } from "../../../src/metrics/totals.ts";
import { createRun, viewOf } from "./runs.ts";
import { rawRun, service, silenceQueue, until } from "./service.ts";

const EXECUTORS = 8;
const CLAIM = 64;
/** Units of one segment. */
export const SEGMENT_UNITS = 128;

export interface StoredOptions {
  /** Row of a rollout, with its line feed; ASCII. */
  readonly lineOf: (unit: number, rollout: number) => string;
  readonly rollouts?: number;
  /** What is counted of a rollout, by the same place; absent = a reward of 1. */
  readonly summaryOf?: (unit: number, rollout: number) => Partial<RolloutSummary>;
  /** Units of one segment. */
  readonly segmentUnits?: number;
  /** Events of the commits are there too. */
  readonly events?: true;
  /** What is not done waits to be handed out again. */
  readonly isDone?: (unit: number) => boolean;
  /** The examples were permuted, in as large parts as they are; `lineOf` is then asked for the place of an example in the data set. */
  readonly permuted?: true;
}

/** A run of `units` whose done ones are in the ledger and in R2, as many executors would have left them. Nothing works on it. */
export async function storedRun(
  units: number,
  { lineOf, rollouts = 1, summaryOf = () => ({}), segmentUnits = SEGMENT_UNITS, events, isDone = () => true, permuted }: StoredOptions,
): Promise<RunConfig> {
  silenceQueue();
  const config = await createRun({ num_examples: units, rollouts_per_example: rollouts });
  const encoder = new TextEncoder();
  const parts = permuted === undefined ? [] : Array.from({ length: Math.ceil(units / PERMUTED_ROWS) }, (_, part) => part * PERMUTED_ROWS);
  const ranges = parts.map((lo) => ({ lo, hi: Math.min(units, lo + PERMUTED_ROWS) }));
  const order = new PinnedOrder(ORDER_SEED, ranges);
  const places: Done[] = [];
  const puts: (() => Promise<unknown>)[] = [];
  const summary: RolloutSummary = { reward: 1, error: null, input_tokens: 1, output_tokens: 1, truncated: false, metrics: {} };
  for (const [index, members] of segmentsOf(units, segmentUnits).entries()) {
    const segment = segmentName(1, 1, index + 1);
    let text = "";
    for (const unit of members.filter(isDone)) {
      const lines = Array.from({ length: rollouts }, (_, rollout) => lineOf(order.rankOf(unit), rollout)).join("");
      const counted = Array.from({ length: rollouts }, (_, rollout) => ({ ...summary, ...summaryOf(order.rankOf(unit), rollout) }));
      places.push({ unit, segment, offset: text.length, length: lines.length, rollouts: counted, owed: false });
      text += lines;
    }
    puts.push(() => service.BUCKET.put(segmentKey(config.run_id, segment), encoder.encode(text)));
  }
  const putNext = async (): Promise<void> => {
    for (let put = puts.shift(); put !== undefined; put = puts.shift()) await put();
  };
  await Promise.all(Array.from({ length: 8 }, putNext));
  // What it has still to announce would be acknowledged over what is written here.
  await until("the run to be announced", () =>
    runInDurableObject(rawRun(config.run_id), (_, { storage }) => {
      const head = new SqlLedger(storage.sql).head();
      return head !== null && !head.offer.due && !head.projection.due;
    }),
  );
  await runInDurableObject(rawRun(config.run_id), (_, { storage }) =>
    storage.transactionSync(() => {
      const ledger = new SqlLedger(storage.sql);
      const head = ledger.head();
      if (head === null) throw new Error("the run is gone");
      for (const range of ranges) ledger.order.permute(range, ORDER_SEED);
      ledger.putDones(places);
      for (const place of places) head.totals = addUnit(head.totals, place.rollouts as Parameters<typeof addUnit>[1]);
      if (events === true) {
        for (const segment of new Set(places.map((place) => place.segment))) {
          const members = places.filter((place) => place.segment === segment).map(({ unit }) => unit);
          const counts = { rollouts: members.length * rollouts, units: members, segment };
          ledger.putEvent({ seq: ++head.seq, time: 1, type: "commit", level: "DEBUG", message: "committed", ...counts });
        }
      }
      const open = Array.from({ length: units }, (_, unit) => unit).filter((unit) => !isDone(unit));
      for (const range of runsOf(open)) ledger.putReturned(range);
      ledger.putHead({
        ...head,
        epoch: Math.max(1, head.epoch),
        status: "RUNNING",
        phase: "open",
        n: units,
        pinned_for: units,
        cursor: units,
        pending: open.length,
        done: places.length,
        row_bytes: places.reduce((sum, { length }) => sum + length, 0),
      });
    }),
  );
  // The object remembers what it has read itself.
  await evictDurableObject(rawRun(config.run_id));
  await viewOf(config.run_id);
  return config;
}

/** Units in the order in which executors that claim in turns would write them: each its own blocks, finished in any order. */
function segmentsOf(units: number, ofOne: number): number[][] {
  const written: number[][] = Array.from({ length: EXECUTORS }, () => []);
  for (let lo = 0, turn = 0; lo < units; lo += CLAIM, turn++) {
    const block = Array.from({ length: Math.min(CLAIM, units - lo) }, (_, index) => lo + index);
    // Any fixed disorder will do.
    written[turn % EXECUTORS]?.push(...block.sort((a, b) => ((a * 37) % CLAIM) - ((b * 37) % CLAIM)));
  }
  return written.flatMap((mine) => Array.from({ length: Math.ceil(mine.length / ofOne) }, (_, n) => mine.slice(n * ofOne, (n + 1) * ofOne)));
}
