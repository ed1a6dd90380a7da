import { Walls } from "../../src/config/plan/walls.ts";
import { RankedHeap } from "./ranked-heap.ts";

/** Soft state of the Dispatcher and its rules; losing all of it loses nothing, because every Run announces itself again. */
export interface Offer {
  readonly run: string;
  /** Lanes the run wants now, absolute. 0 is remembered for a while, so that a late older offer does not come back to life. */
  readonly want: number;
  readonly weight: number;
  /** Executors that are to share them; absent = as many as they need. */
  readonly executors?: number;
  /** The isolate that its environment needs (`wallOf`); absent = none of its own. */
  readonly wall?: string;
  readonly seq: number;
  readonly changed_at: number;
  /** Lanes handed out so far, divided by weight: the round robin takes the smallest. */
  readonly served: number;
}

/** An offer with what is only known of the present. That is not stored: an instance that starts anew sends wake-ups anew, and is told again. */
interface Standing extends Offer {
  want: number;
  served: number;
  /** Nobody works for the run. */
  idle: boolean;
  /** When an executor was last told to make room for it, Unix milliseconds. */
  promised_at: number;
  /** Unix milliseconds of the last nudge, and the wait before the next one. */
  nudged_at: number;
  backoff: number;
  /** When it is to be nudged, or forgotten. */
  due_at: number;
}

/** The first repeat of a nudge, doubling to the last. Milliseconds. */
export const FIRST_NUDGE_MS = 2_000;
export const LAST_NUDGE_MS = 60_000;
/** How long a withdrawn offer is remembered. Longer than any message stays under way. */
export const FORGET_MS = 600_000;
const MOST_NUDGES = 100;
/** Requests of an executor for each run that is named to it: one of five serves two runs, and a third only with what they leave. */
const REQUESTS_PER_RUN = 3;

/** How long an executor that was told to make room has for it, before another is told. */
export const PROMISE_MS = 20_000;

export interface OfferMessage {
  readonly run: string;
  readonly want: number;
  readonly weight: number;
  readonly executors?: number;
  readonly wall?: string;
  /** Nobody works for the run; absent = somebody does, and from Runs of before. */
  readonly idle?: boolean;
  readonly seq: number;
}

export interface NextRequest {
  readonly executor: string;
  /** Milliseconds since its start; absent from executors of before. */
  readonly age_ms?: number;
  /** It ends, and asks for nothing; absent = not. */
  readonly leaving?: boolean;
  /** It asks for nothing more, and ends within so many milliseconds, when its units are done; absent = not. Unlike one that is `leaving` it works still. */
  readonly finishing_ms?: number;
  /** It is making room already; absent = not. */
  readonly yielding?: boolean;
  /** Model requests the executor can still carry. */
  readonly free: number;
  /** Runs it holds tickets of. */
  readonly serving: readonly { readonly run: string; readonly requests: number }[];
  /** Isolates that it has, or is about to have, for runs it serves; absent = none. */
  readonly walls?: readonly string[];
  /** Runs whose units take longer than it has left; absent from executors of before. */
  readonly passes?: readonly string[];
  /** Offers it followed in vain (`none`, `closed`, `gone`): withdrawn unless a newer one came. */
  readonly refused: readonly { readonly run: string; readonly seq: number }[];
}
export interface NextAnswer {
  readonly runs: readonly { readonly run: string; readonly want: number; readonly seq: number; readonly wall?: string }[];
  /** Lanes that all runs together want and nobody has. */
  readonly wanted: number;
  /** A run of whose lanes the executor should give some to another, which has none; null = none. */
  readonly yield: string | null;
  /** Whether some run has nothing: where none has, nobody needs to make room any more. Absent from a Dispatcher of before. */
  readonly needy?: boolean;
  /** A run that it serves and that wants more, where no other wants what it has free; absent = none. */
  readonly more?: string;
  /** How long the executor's slice is while runs want lanes that nobody has, in milliseconds; absent from a Dispatcher of before. */
  readonly slice_ms?: number;
}

export interface Nudge {
  readonly run: string;
  readonly seq: number;
  /** Wake-ups to send. */
  readonly count: number;
}

/** What is to be written since it was last asked. */
export interface OfferChanges {
  readonly put: readonly Offer[];
  readonly forgotten: readonly string[];
}

/** Ties in the order of their ids, so that the same requests get the same answers. */
const ranked =
  (rank: (each: Standing) => number) =>
  (a: Standing, b: Standing): boolean =>
    rank(a) < rank(b) || (rank(a) === rank(b) && a.run < b.run);
const leastServed = ranked(({ served }) => served);

/** Said again, as the watchdog has every run do. */
const isSame = (known: Standing, message: OfferMessage): boolean =>
  known.idle === (message.idle ?? false) &&
  known.seq === message.seq &&
  known.want === message.want &&
  known.executors === message.executors &&
  known.wall === message.wall &&
  known.weight === message.weight;

/** Which runs want lanes: an index in memory over what is stored. Each call costs the logarithm of the runs known, not their number. */
export class OfferBook {
  readonly #offers = new Map<string, Standing>();
  /** Those that want lanes: first those that have none, of each the least served first. */
  readonly #standing = new RankedHeap<Standing>((a, b) => (a.idle === b.idle ? leastServed(a, b) : a.idle));
  /** Of them, those that have none, by when somebody was told to make room for them. */
  readonly #needy = new RankedHeap<Standing>(ranked(({ promised_at }) => promised_at));
  readonly #due = new RankedHeap<Standing>(ranked(({ due_at }) => due_at));
  readonly #changed = new Set<string>();
  #wanted = 0;

  constructor(stored: Iterable<Offer> = []) {
    for (const offer of stored) this.#put({ ...offer, idle: false, promised_at: 0, nudged_at: 0, backoff: FIRST_NUDGE_MS, due_at: 0 });
    this.#changed.clear();
  }

  /** Takes an offer; an older one than known changes nothing. */
  offer(message: OfferMessage, now: number): void {
    const known = this.#offers.get(message.run);
    if (known !== undefined && (message.seq < known.seq || isSame(known, message))) return;
    const grew = known === undefined || message.want > known.want;
    const { served, promised_at, nudged_at, backoff } = known ?? { served: 0, promised_at: 0, nudged_at: 0, backoff: FIRST_NUDGE_MS };
    // Who comes, or comes again, starts level with the least served, not behind: it must not crowd out those that were there.
    const level = known !== undefined && known.want > 0 ? served : Math.max(served, this.#standing.first?.served ?? 0);
    if (known !== undefined) this.#drop(known);
    this.#put({
      ...message,
      idle: message.idle === true,
      promised_at,
      changed_at: now,
      served: level,
      nudged_at: grew ? 0 : nudged_at,
      backoff: grew ? FIRST_NUDGE_MS : backoff,
      due_at: 0,
    });
  }

  /** Names the runs an executor should join, least served first; an executor that is full may be told to make room. */
  next(request: NextRequest, now: number): NextAnswer {
    for (const { run, seq } of request.refused) {
      const known = this.#offers.get(run);
      if (known !== undefined && known.seq === seq && known.want > 0) this.#change(known, { want: 0 });
    }
    if (request.leaving === true || request.finishing_ms !== undefined) return { runs: [], wanted: this.#wanted, yield: null };
    const others = new Set([...request.serving.map((each) => each.run), ...(request.passes ?? [])]);
    const wanted = this.#wanted;
    const needy = this.#needy.first !== undefined;
    if (request.free <= 0) return { runs: [], wanted, yield: this.#yieldOf(request, others, now), needy };
    const most = Math.ceil(request.free / REQUESTS_PER_RUN);
    const chosen: Standing[] = [];
    const walls = new Walls(request.walls);
    for (const each of this.#standing.inOrder()) {
      if (!others.has(each.run) && walls.take(each.wall)) chosen.push(each);
      if (chosen.length === most) break;
    }
    for (const each of chosen) {
      const lanes = Math.max(1, Math.floor(request.free / chosen.length));
      this.#change(each, { served: each.served + lanes / each.weight, nudged_at: now, backoff: FIRST_NUDGE_MS });
    }
    const more = chosen.length > 0 ? undefined : this.#moreOf(request);
    const runs = chosen.map(({ run, want, seq, wall }) => ({ run, want, seq, ...(wall === undefined ? {} : { wall }) }));
    return { runs, wanted, yield: null, needy, ...(more === undefined ? {} : { more }) };
  }

  /** Of the runs that an executor serves and could begin units of, the least served that wants more. */
  #moreOf({ serving, passes = [] }: NextRequest): string | undefined {
    const wanting = serving.flatMap(({ run }) => (passes.includes(run) ? [] : (this.#offers.get(run) ?? []))).filter(({ want }) => want > 0);
    return wanting.sort((a, b) => a.served - b.served)[0]?.run;
  }

  /** Room is made for a run that has nothing, by one executor at a time, which gives of what it has most of, and could take it. */
  #yieldOf({ serving, yielding, walls }: NextRequest, runs: ReadonlySet<string>, now: number): string | null {
    const largest = [...serving].sort((a, b) => b.requests - a.requests)[0];
    if (largest === undefined || yielding === true) return null;
    const needy = this.#firstNeedy(new Walls(walls));
    if (needy === undefined || runs.has(needy.run)) return null;
    if (needy.promised_at > 0 && now - needy.promised_at < PROMISE_MS) return null;
    needy.promised_at = now;
    this.#needy.put(needy);
    return largest.run;
  }

  #firstNeedy(walls: Walls): Standing | undefined {
    for (const each of this.#needy.inOrder()) if (walls.has(each.wall)) return each;
    return undefined;
  }

  /** Offers to nudge for now, with how many wake-ups each: as many executors as its lanes need. Marks them nudged. */
  nudge(requestsPerExecutor: number, now: number): Nudge[] {
    const nudges: Nudge[] = [];
    for (let each = this.#due.first; each !== undefined && each.due_at <= now; each = this.#due.first) {
      if (each.want <= 0) {
        this.#drop(each);
        this.#changed.add(each.run);
        continue;
      }
      const backoff = each.nudged_at > 0 ? Math.min(LAST_NUDGE_MS, each.backoff * 2) : each.backoff;
      Object.assign(each, { nudged_at: now, backoff, due_at: now + backoff });
      this.#due.put(each);
      const { run, seq, want, executors = 0 } = each;
      const count = Math.min(MOST_NUDGES, want, Math.max(Math.ceil(want / requestsPerExecutor), executors));
      nudges.push({ run, seq, count });
    }
    return nudges;
  }

  /** When the Dispatcher has something to do by itself, in Unix milliseconds; null = never. */
  get nextWake(): number | null {
    return this.#due.first?.due_at ?? null;
  }

  /** What is to be stored since the last call. */
  takeChanges(): OfferChanges {
    const put: Offer[] = [];
    const forgotten: string[] = [];
    for (const run of this.#changed) {
      const known = this.#offers.get(run);
      if (known === undefined) forgotten.push(run);
      else put.push(known);
    }
    this.#changed.clear();
    return { put, forgotten };
  }

  #change(each: Standing, change: Partial<Pick<Standing, "want" | "served" | "nudged_at" | "backoff">>): void {
    this.#drop(each);
    this.#put(Object.assign(each, change));
  }

  #put(each: Standing): void {
    each.due_at = each.want <= 0 ? each.changed_at + FORGET_MS + 1 : each.nudged_at === 0 ? 0 : each.nudged_at + each.backoff;
    this.#offers.set(each.run, each);
    this.#changed.add(each.run);
    this.#due.put(each);
    if (each.want <= 0) return;
    this.#standing.put(each);
    if (each.idle) this.#needy.put(each);
    this.#wanted += each.want;
  }

  #drop(each: Standing): void {
    this.#offers.delete(each.run);
    this.#due.remove(each);
    this.#standing.remove(each);
    this.#needy.remove(each);
    this.#wanted -= each.want;
  }
}
