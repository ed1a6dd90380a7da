import type { ExchangeRequest, HolderReport } from "./limiter-control.ts";
import { givenId, type Holder, type Party } from "./party.ts";

/** `new`: what it says counts; `again`: its answer was lost, and what was seen counts no more; `late`: a later one has been answered, so this changes nothing. */
export type Arrival = "new" | "again" | "late";

interface Executor {
  seq: number;
  /** What it was told holds until then, by the clock of the Limiter. */
  expiresAt: number;
  readonly holders: Map<string, Holder>;
}

/** What a holder sends is averaged over this time. */
const SENDS_OVER_MS = 2_000;

/** Which executors there are, what they hold, and for which parties. An executor that says nothing for a lease holds nothing. Times are of one clock. */
export class Attendance {
  readonly #executors = new Map<string, Executor>();
  readonly #parties = new Map<string, Party>();

  get parties(): IterableIterator<Party> {
    return this.#parties.values();
  }

  /** Those that hold something. */
  get executors(): number {
    let present = 0;
    for (const { holders } of this.#executors.values()) if (holders.size > 0) present++;
    return present;
  }

  /** In the order of the reports. */
  holdersOf({ executor, holders }: Pick<ExchangeRequest, "executor" | "holders">): readonly Holder[] {
    const known = this.#executors.get(executor)?.holders;
    return holders.flatMap(({ id }) => known?.get(id) ?? []);
  }

  /** Drops whoever was not heard of for a lease; who they are. */
  expire(now: number): readonly string[] {
    const gone = [...this.#executors].filter(([, { expiresAt }]) => now >= expiresAt).map(([name]) => name);
    for (const name of gone) this.#drop(name);
    return gone;
  }

  /** Takes note of what an executor has. It holds that until `expiresAt`, and then nothing; who leaves is only remembered so that a late word of it counts for nothing. */
  arrive({ executor: name, seq, holders, seen }: ExchangeRequest, expiresAt: number): Arrival {
    const known = this.#executors.get(name);
    if (known !== undefined && seq < known.seq) return "late";
    const arrival = known?.seq === seq ? "again" : "new";
    const executor = known ?? { seq, expiresAt, holders: new Map<string, Holder>() };
    executor.seq = seq;
    executor.expiresAt = expiresAt;
    this.#executors.set(name, executor);
    const named = new Set(holders.map(({ id }) => id));
    for (const [id, holder] of executor.holders) if (!named.has(id)) this.#release(executor, id, holder);
    for (const report of holders) this.#report(executor, report, arrival, seen.over_ms);
    return arrival;
  }

  #report(executor: Executor, report: HolderReport, arrival: Arrival, overMs: number): void {
    const party = this.#partyOf(report);
    let holder = executor.holders.get(report.id);
    if (holder !== undefined && holder.party !== party) {
      // It keeps to other caps from now on.
      this.#leave(holder);
      holder = { ...holder, party, isNew: true };
    }
    holder ??= { party, report, isNew: true, owed: 0, target: null, had: 0, may: 0, sends: 0, balance: {}, isNews: true };
    holder.report = report;
    if (arrival === "new") {
      holder.isNews = true;
      holder.had = holder.may;
      holder.may = 0;
      const now = overMs > 0 ? (report.sent * 1_000) / overMs : holder.sends;
      holder.sends += (now - holder.sends) * (1 - Math.exp(-overMs / SENDS_OVER_MS));
    }
    party.holders.add(holder);
    executor.holders.set(report.id, holder);
  }

  #partyOf({ run, team, kind, caps }: HolderReport): Party {
    const ids = caps.map(({ id }) => id).sort();
    const key = JSON.stringify([run, kind, ids]);
    const party = this.#parties.get(key) ?? {
      ...{ key, run, team, kind, caps: new Set([...ids, givenId(team)]), holders: new Set<Holder>() },
      ...{ owed: 0, target: null, credit: 1, pace: 0, isServed: false },
    };
    this.#parties.set(key, party);
    return party;
  }

  #release(executor: Executor, id: string, holder: Holder): void {
    executor.holders.delete(id);
    this.#leave(holder);
  }

  #leave(holder: Holder): void {
    const { party } = holder;
    party.holders.delete(holder);
    if (party.holders.size === 0) this.#parties.delete(party.key);
  }

  #drop(name: string): void {
    const executor = this.#executors.get(name);
    this.#executors.delete(name);
    for (const [id, holder] of executor?.holders ?? []) this.#release(executor as Executor, id, holder);
  }
}
