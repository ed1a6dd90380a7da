import type { Amounts, RateKind } from "../../src/endpoint-limits/limit-kinds.ts";
import type { HolderReport } from "./limiter-control.ts";

/** The requests of one run, or of its judges, over all executors, that keep to the same caps: what is fair is fair between parties. */
export interface Party {
  readonly key: string;
  readonly run: string;
  readonly team: string;
  readonly kind: HolderReport["kind"];
  readonly caps: ReadonlySet<string>;
  readonly holders: Set<Holder>;
  /** Unit seconds of concurrency that it was short of its part; below 0 = it had more. */
  owed: number;
  /** Requests in flight that it is to have; null = nothing bounds them. */
  target: number | null;
  /** Requests that it may begin by the rates that it shares, as they come in; below 0 = it had more than its part. */
  credit: number;
  /** Requests per second of its part. */
  pace: number;
  /** It was granted a request of what is bounded by the minute. */
  isServed: boolean;
}

/** One grant at one executor, as it was last heard of. */
export interface Holder {
  readonly party: Party;
  report: HolderReport;
  /** It was in no division yet. */
  isNew: boolean;
  owed: number;
  target: number | null;
  /**
   * Requests that it may have in flight: by what it had been told when it sent its last exchange, and by the answers to that one, of which it may have any.
   * Unless it has more in flight anyway, it has no more than the larger of them.
   */
  had: number;
  may: number;
  /** Requests that it sends in a second. */
  sends: number;
  /** Of rates, what it may have now. */
  balance: Amounts<RateKind>;
  /** What it says now was not answered before. */
  isNews: boolean;
}

/** What it may have in flight at this moment, whatever of the last exchange has arrived. */
export const heldBy = ({ report, had, may }: Holder): number => Math.max(report.in_flight, report.allowed ?? 0, had, may);

/** What it has a use for. */
export const wantOf = ({ report }: Holder): number => Math.min(report.most, report.in_flight + report.waiting);

export const isWaiting = ({ holders }: Party): boolean => [...holders].some(({ report }) => report.waiting > 0);

/** It has all that it may have in flight, where something bounds that. */
export const isFull = ({ holders, target }: Party): boolean => target !== null && sumOf(holders, ({ report }) => report.in_flight) >= target;

/** What a team was given is among the caps of its parties under this name. */
export const givenId = (team: string): string => `given/${team}`;

/** Each party's weight: that of its run by the newest word, shared with its judges where they use the same key. */
export function weightsOf(parties: Iterable<Party>): ReadonlyMap<Party, number> {
  const all = [...parties];
  const together = new Map<string, number>();
  for (const { run } of all) together.set(run, (together.get(run) ?? 0) + 1);
  return new Map(all.map((party) => [party, Math.max(...[...party.holders].map(({ report }) => report.priority)) / (together.get(party.run) ?? 1)]));
}

export const sumOf = (holders: Iterable<Holder>, amount: (holder: Holder) => number): number => {
  let sum = 0;
  for (const holder of holders) sum += amount(holder);
  return sum;
};
