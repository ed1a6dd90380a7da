import { againMs, freeFor, MARGIN_MS, VALID_MS } from "./allotting.ts";
import { HeldJobs } from "./held-jobs.ts";
import { jobProblem } from "./job-problem.ts";
import type { BudgetAnswer, BudgetLimits, BudgetRequest, BudgetView, JobAnswer, JobRequest } from "./budget-control.ts";
import type { StoredJob } from "./stored-job.ts";
import type { Party, StoredParty } from "./party.ts";
import { type StoredWindow, Windows } from "./windows.ts";

/**
 * So long after it was lost or has left an executor is remembered: twice as long as a request may take (an hour), so that whatever of it is still billed or said
 * counts where it belongs. Milliseconds.
 */
const REMEMBERED_MS = 2 * 3_600_000;

export interface StoredLedger {
  readonly limits: BudgetLimits | null;
  readonly windows: readonly StoredWindow[];
  readonly parties: readonly StoredParty[];
  readonly jobs: readonly StoredJob[];
}

/** What is to be written before anything that was decided is told. */
export interface LedgerChanges {
  readonly limits: BudgetLimits | null;
  /** Null = limits and windows are as they were. */
  readonly windows: readonly StoredWindow[] | null;
  readonly put: readonly StoredParty[];
  readonly gone: readonly string[];
  /** Null = those of jobs are as they were. */
  readonly jobs: ReturnType<HeldJobs["takeChanges"]>;
}

/**
 * All that a Budget decides. Of each span that is limited, what is settled, what is unseen, what is held for jobs and what executors have in their hands is never more than the limit,
 * whatever is lost, doubled or late; so nothing above it can be spent. Only a person who lowers a limit leaves more than that: then nothing more is handed out.
 * Times are Unix milliseconds of one clock that does not go back. Money is whole nano-dollars.
 */
export class Ledger {
  #limits: BudgetLimits | null;
  readonly #windows: Windows;
  readonly #parties: Map<string, Party>;
  readonly #jobs: HeldJobs;
  readonly #changed = new Set<string>();
  #isChanged = false;

  /**
   * `stored`: what an earlier life kept. Whoever is in it has a lease anew: that one is heard of again or not is found out as ever. `life`: of the process that the
   * Budget is in; executors of an earlier one are gone with it. Null = nothing is known of that.
   */
  constructor(stored: StoredLedger | null, now: number, life: Life | null = null) {
    this.#limits = stored?.limits ?? null;
    this.#windows = new Windows(stored?.windows ?? [], now);
    this.#jobs = new HeldJobs(stored?.jobs ?? []);
    this.#parties = new Map(
      (stored?.parties ?? []).map((party) => [
        party.executor,
        { ...party, expiresAt: life === null || isOf(party, life) ? now + VALID_MS + MARGIN_MS : now, reserved: party.allotted, free: 0, wants: 0 },
      ]),
    );
  }

  exchange(request: BudgetRequest, now: number): BudgetAnswer {
    const { executor, seq } = request;
    const problem = this.#problem(request);
    if (problem !== null) return { kind: "refused", message: problem };
    this.#pass(now, request);
    const known = this.#parties.get(executor);
    if (known !== undefined && seq < known.seq) return this.#answer(0, request);
    if (known === undefined && hasAnything(request))
      return { kind: "refused", message: "it was not heard of for hours: what it had of the budget counts as spent by calls whose end nobody saw" };
    const party = this.#found(known, request, now);
    if (seq === party.seq) {
      this.#put(party);
      return this.#answer(party.allots, request);
    }
    const { settled, unseen, reserved, in_flight, free, wants, leaves } = request;
    if (settled > 0 || unseen.calls > 0) {
      this.#windows.add({ settled, calls: unseen.calls, unseen: unseen.amount });
      this.#isChanged = true;
    }
    const kept = Math.max(0, free);
    const said = { ...party, seq, calls: in_flight, reserved, free: kept, wants: leaves ? 0 : wants, allotted: reserved + kept };
    // What it has no more is there for others, and for itself.
    this.#parties.set(executor, said);
    const target = leaves ? 0 : this.#freeFor(request, kept);
    const allots = target >= kept ? target - free : target - kept;
    const has = Math.max(kept, target);
    const lost_at = leaves && reserved + kept === 0 ? now : null;
    this.#put({ ...said, free: has, allots: Math.max(0, allots), allotted: reserved + has, lost_at }, party);
    return this.#answer(allots, request);
  }

  /** A word of a job. Its end counts whatever holds: what was spent is spent. */
  job(request: JobRequest, now: number): JobAnswer {
    const { job, word } = request;
    const problem = jobProblem(request);
    if (problem !== null) return { kind: "refused", message: problem };
    this.#pass(now, null);
    if (word.kind === "settle") {
      if (this.#jobs.settle(job, request, now, this.#windows)) {
        this.#windows.add({ settled: word.settled, calls: word.unseen.calls, unseen: word.unseen.amount });
        this.#isChanged = true;
      }
      return NOTHING_HELD;
    }
    const isLate = this.#jobs.isLate(job, request);
    if (word.kind === "lose" || word.kind === "release") {
      if (isLate) return NOTHING_HELD;
      if (word.kind === "release") this.#jobs.release(job, request, now);
      else if (this.#jobs.lose(job, { epoch: request.epoch, seq: request.seq }, now, this.#windows)) this.#isChanged = true;
      return NOTHING_HELD;
    }
    if (this.#limits === null) return { kind: "refused", message: NO_LIMIT };
    if (isLate) return NOTHING_HELD;
    if (word.kind === "ask") this.#jobs.free(job, request, now);
    const before = this.#windows.all;
    const held = word.kind !== "ask" && this.#jobs.hold(job, request, word, now, this.#windows, () => this.#spare);
    if (this.#windows.all !== before) this.#isChanged = true;
    const room = Math.min(Number.MAX_SAFE_INTEGER, this.#jobs.heldBy(job) + Math.max(0, this.#spare));
    return { kind: "ok", held, room, over: held ? null : this.#windows.overspent(this.#limits, word.least) };
  }

  set(limits: BudgetLimits | null, spent: number, now: number): void {
    this.#pass(now, null);
    this.#limits = limits;
    // What rows cost and nobody has told of yet is in the hands of executors.
    this.#windows.least(spent - this.#allotted);
    this.#isChanged = true;
  }

  /** Null where nothing was ever set. */
  view(now: number): BudgetView | null {
    if (this.#limits === null) return null;
    this.#pass(now, null);
    const spentIn = (span: StoredWindow["span"]) => {
      const { settled, unseen, unseen_calls } = this.#windows.get(span);
      return { settled, unseen: { calls: unseen_calls, amount: unseen } };
    };
    const spent = { total: spentIn("total"), day: spentIn("day"), month: spentIn("month") };
    return { limits: this.#limits, spent, allotted: this.#allotted, batches: this.#jobs.held };
  }

  /** Null = nothing is to be written. It counts as written. */
  takeChanges(): LedgerChanges | null {
    const jobs = this.#jobs.takeChanges();
    if (!this.#isChanged && this.#changed.size === 0 && jobs === null) return null;
    const put = [...this.#changed].flatMap((executor) => this.#parties.get(executor) ?? []);
    const gone = [...this.#changed].filter((executor) => !this.#parties.has(executor));
    const windows = this.#isChanged ? this.#windows.all : null;
    this.#changed.clear();
    this.#isChanged = false;
    return { limits: this.#limits, windows, put, gone, jobs };
  }

  get #allotted(): number {
    let sum = 0;
    for (const { allotted, lost_at } of this.#parties.values()) if (lost_at === null) sum += allotted;
    return sum;
  }

  #problem({ settled, unseen, reserved, in_flight, free, wants, least, seq }: BudgetRequest): string | null {
    if (this.#limits === null) return NO_LIMIT;
    const whole = [settled, unseen.calls, unseen.amount, reserved, in_flight, wants, seq, least ?? 0].every((each) => Number.isSafeInteger(each) && each >= 0);
    return whole && Number.isSafeInteger(free) ? null : "an executor told of money in numbers that are not whole";
  }

  /** What time, or the life of another process, has brought. */
  #pass(now: number, life: Life | null): void {
    for (const party of this.#parties.values()) {
      const { lost_at, expiresAt } = party;
      const isDead = life !== null && !isOf(party, life);
      if (lost_at === null && (now >= expiresAt || isDead)) this.#lose(party, now);
    }
    const lost = { calls: 0, amount: 0 };
    for (const { executor, lost_at, allotted, calls } of this.#parties.values()) {
      if (lost_at === null) continue;
      if (now - lost_at >= REMEMBERED_MS) {
        this.#parties.delete(executor);
        this.#changed.add(executor);
      } else if (allotted > 0) {
        lost.calls += Math.max(1, calls);
        lost.amount += allotted;
      }
    }
    if (this.#windows.turn(now, lost)) this.#isChanged = true;
    // After a day has begun, since what lapses counts in the one that is now.
    if (this.#jobs.pass(now, this.#windows)) this.#isChanged = true;
  }

  /** Nobody knows what became of what it had. */
  #lose(party: Party, now: number): void {
    if (party.allotted > 0) this.#windows.add({ calls: Math.max(1, party.calls), unseen: party.allotted });
    this.#put({ ...party, lost_at: now, reserved: 0, free: 0, wants: 0 });
    this.#isChanged = true;
  }

  /** It is there: of one that was lost it is known again what it has. */
  #found(known: Party | undefined, { executor, boot, runtime, seq }: BudgetRequest, now: number): Party {
    const expiresAt = now + VALID_MS + MARGIN_MS;
    if (known === undefined)
      return { executor, boot, runtime, seq: seq - 1, allots: 0, allotted: 0, calls: 0, lost_at: null, expiresAt, reserved: 0, free: 0, wants: 0 };
    if (known.lost_at !== null && known.allotted > 0) {
      this.#windows.add({ calls: -Math.max(1, known.calls), unseen: -known.allotted });
      this.#isChanged = true;
    }
    return { ...known, boot, runtime, lost_at: null, expiresAt };
  }

  #put(party: Party, before = this.#parties.get(party.executor)): void {
    this.#parties.set(party.executor, party);
    // The number of an exchange that moved no money is not worth a row: it may count twice.
    const isSame = before !== undefined && KEPT.every((field) => party[field] === before[field]);
    if (!isSame || this.#isChanged) this.#changed.add(party.executor);
  }

  /** What the executor is to have free. `free`: that it has. */
  #freeFor({ executor, reserved, wants, least }: BudgetRequest, free: number): number {
    let othersWant = 0;
    for (const party of this.#parties.values()) if (party.lost_at === null && party.executor !== executor) othersWant += Math.max(0, party.wants - party.free);
    return freeFor({ spare: this.#spare + free, reserved, wants, least, othersWant, executors: this.#spending });
  }

  /** What nobody has; below 0 where a limit was lowered. */
  get #spare(): number {
    return this.#windows.left(this.#limits ?? {}) - this.#allotted - this.#jobs.held.amount;
  }

  /** Executors that have calls under way or waiting. */
  get #spending(): number {
    let sum = 0;
    for (const { lost_at, reserved, wants } of this.#parties.values()) if (lost_at === null && reserved + wants > 0) sum++;
    return sum;
  }

  #answer(allots: number, { free, wants, least, leaves }: BudgetRequest): BudgetAnswer {
    const over = least === null || leaves ? null : this.#windows.overspent(this.#limits ?? {}, least);
    return { kind: "ok", allots, valid_ms: VALID_MS, again_ms: againMs(this.#spending, wants > Math.max(0, free) + allots), over };
  }
}

const NOTHING_HELD: JobAnswer = { kind: "ok", held: false, room: 0, over: null };
const NO_LIMIT = "it has no limit: nothing may be spent from it";

type Life = Pick<BudgetRequest, "boot" | "runtime">;
const isOf = (party: Life, { boot, runtime }: Life): boolean => party.boot === boot && party.runtime === runtime;

/** What of a party is worth a row when it changes. */
const KEPT = ["allots", "allotted", "calls", "lost_at", "boot", "runtime"] as const satisfies readonly (keyof StoredParty)[];

/** Whether money has gone through its hands. */
const hasAnything = ({ settled, unseen, reserved, free }: BudgetRequest): boolean => settled > 0 || unseen.calls > 0 || reserved > 0 || free !== 0;
