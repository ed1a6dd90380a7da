import type { JobWord } from "./budget-control.ts";
import type { StoredJob } from "./stored-job.ts";
import type { Windows } from "./windows.ts";

const HOUR_MS = 3_600_000;
/** What was written and is not sent by then costs nobody anything: it is reserved anew before it is sent. */
const RESERVED_MS = HOUR_MS;
/** Providers end a batch after a day (platform.openai.com/docs/guides/batch, docs.claude.com "Batch processing"); so much later its answers would have been counted. */
const SENT_MS = 72 * HOUR_MS;
/** Its answers lie at the provider for 29 or 30 days at most: longer nobody can count them anew. */
const REMEMBERED_MS = 31 * 24 * HOUR_MS;

export interface HeldMoney {
  readonly jobs: number;
  readonly amount: number;
}

type Said = Pick<StoredJob, "epoch" | "seq">;
type Hold = Extract<JobWord, { kind: "reserve" | "send" }>;

/** Money that a Budget holds for jobs. Times are Unix milliseconds, money is nano-dollars. */
export class HeldJobs {
  readonly #jobs: Map<string, StoredJob>;
  readonly #changed = new Set<string>();
  /** Nothing is due before then. */
  #dueAt: number;
  /** Worked out when it is asked for. */
  #held: HeldMoney | null = null;

  constructor(stored: readonly StoredJob[]) {
    this.#jobs = new Map(stored.map((job) => [job.job, job]));
    this.#dueAt = this.#nextDue();
  }

  /** Of those that are reserved or sent. */
  get held(): HeldMoney {
    if (this.#held === null) {
      const holding = [...this.#jobs.values()].filter((job) => isHeld(job) && job.amount > 0);
      this.#held = { jobs: holding.length, amount: holding.reduce((sum, { amount }) => sum + amount, 0) };
    }
    return this.#held;
  }

  heldBy(name: string): number {
    const job = this.#jobs.get(name);
    return job !== undefined && isHeld(job) ? job.amount : 0;
  }

  /** Whether a later word has counted: of the same grant, or of one that followed it; or its end has, after which nothing is held for it. */
  isLate(name: string, { epoch, seq }: Said): boolean {
    const job = this.#jobs.get(name);
    return job !== undefined && (job.hold === "settled" || epoch < job.epoch || (epoch === job.epoch && seq < job.seq));
  }

  /** What time has brought. Whether anything counts in `windows` that did not. */
  pass(now: number, windows: Windows): boolean {
    if (now < this.#dueAt) return false;
    let isCounted = false;
    for (const job of [...this.#jobs.values()]) {
      if (now < dueAt(job)) continue;
      if (job.hold !== "sent") {
        this.#drop(job.job);
        continue;
      }
      windows.add({ calls: job.requests, unseen: job.amount });
      this.#put({ ...job, hold: "lapsed", at: now });
      isCounted = true;
    }
    this.#dueAt = this.#nextDue();
    return isCounted;
  }

  /** Lets go of what was reserved for jobs of the same run: whoever writes one knows of none that is written. */
  free(name: string, said: Said, now: number): void {
    const run = name.slice(0, name.lastIndexOf("/") + 1);
    for (const job of [...this.#jobs.values()]) if (job.hold === "reserved" && job.amount > 0 && job.job.startsWith(run)) this.#letGo(job, said, now);
  }

  release(name: string, said: Said, now: number): void {
    const known = this.#jobs.get(name);
    if (known !== undefined && isHeld(known)) this.#letGo(known, said, now);
  }

  /** It is known for as long as words of before may come: they reserve nothing any more. */
  #letGo(job: StoredJob, { epoch, seq }: Said, now: number): void {
    this.#put({ ...job, epoch, seq, hold: "reserved", amount: 0, requests: 0, at: now + RESERVED_MS });
  }

  /** All that it holds counts as unseen for ever. Whether it held anything. */
  lose(name: string, said: Said, now: number, windows: Windows): boolean {
    const known = this.#jobs.get(name);
    if (known === undefined || known.hold === "settled") return false;
    if (isHeld(known)) windows.add({ calls: known.requests, unseen: known.amount });
    this.#put({ ...known, ...said, hold: "settled", amount: 0, requests: 0, at: now });
    return true;
  }

  /** Holds so much for it, where `left` has that beside what it holds. Whether it does. Takes back what counts as unseen of one that lapsed. */
  hold(name: string, { epoch, seq }: Said, { kind, amount, requests }: Hold, now: number, windows: Windows, left: () => number): boolean {
    const known = this.#jobs.get(name);
    const before = windows.all;
    if (known?.hold === "lapsed") windows.takeBack(known.at, { calls: known.requests, unseen: known.amount });
    if (amount > this.heldBy(name) + Math.max(0, left())) {
      windows.reset(before);
      return false;
    }
    const sent = kind === "send";
    this.#put({ job: name, epoch, seq, hold: sent ? "sent" : "reserved", amount, requests, at: now + (sent ? SENT_MS : RESERVED_MS) });
    return true;
  }

  /** Its end; whether it was not known yet. */
  settle(name: string, { epoch, seq }: Said, now: number, windows: Windows): boolean {
    const known = this.#jobs.get(name);
    if (known?.hold === "settled") return false;
    if (known?.hold === "lapsed") windows.takeBack(known.at, { calls: known.requests, unseen: known.amount });
    this.#put({ job: name, epoch, seq, hold: "settled", amount: 0, requests: 0, at: now });
    return true;
  }

  /** What is to be written; it counts as written. */
  takeChanges(): { readonly put: readonly StoredJob[]; readonly gone: readonly string[]; readonly isHolding: boolean } | null {
    if (this.#changed.size === 0) return null;
    const put = [...this.#changed].flatMap((name) => this.#jobs.get(name) ?? []);
    const gone = [...this.#changed].filter((name) => !this.#jobs.has(name));
    this.#changed.clear();
    return { put, gone, isHolding: [...this.#jobs.values()].some(({ hold, amount }) => hold !== "settled" && amount > 0) };
  }

  #put(job: StoredJob): void {
    this.#jobs.set(job.job, job);
    this.#held = null;
    this.#changed.add(job.job);
    this.#dueAt = Math.min(this.#dueAt, dueAt(job));
  }

  #drop(name: string): void {
    this.#jobs.delete(name);
    this.#held = null;
    this.#changed.add(name);
  }

  #nextDue(): number {
    let next = Number.POSITIVE_INFINITY;
    for (const job of this.#jobs.values()) next = Math.min(next, dueAt(job));
    return next;
  }
}

const isHeld = ({ hold }: StoredJob): boolean => hold === "reserved" || hold === "sent";

/** When it is held, or remembered, no longer. */
const dueAt = (job: StoredJob): number => (isHeld(job) ? job.at : job.at + REMEMBERED_MS);
