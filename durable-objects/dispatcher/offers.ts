/** Soft state of the Dispatcher and its rules; losing all of it loses nothing, because every Run announces itself again. */
export const DISPATCHER_VERSION = 1;

export interface Offer {
  readonly run: string;
  /** Lanes the run wants now, absolute. 0 is remembered for a while, so that a late older offer does not come back to life. */
  want: number;
  readonly weight: number;
  /** Executors that are to share them; absent = as many as they need. */
  readonly executors?: number;
  seq: number;
  /** Unix milliseconds of the last nudge, and the wait before the next one. */
  nudged_at: number;
  backoff: number;
  changed_at: number;
  /** Lanes handed out so far, divided by weight: the round robin takes the smallest. */
  served: number;
}

export interface DispatcherState {
  version: typeof DISPATCHER_VERSION;
  offers: Record<string, Offer>;
}

export const emptyDispatcher = (): DispatcherState => ({ version: DISPATCHER_VERSION, offers: {} });

/** The first repeat of a nudge, doubling to the last. Milliseconds. */
export const FIRST_NUDGE_MS = 2_000;
export const LAST_NUDGE_MS = 60_000;
/** How long a withdrawn offer is remembered. Longer than any message stays under way. */
const FORGET_MS = 600_000;
const MOST_NUDGES = 100;

export interface OfferMessage {
  readonly run: string;
  readonly want: number;
  readonly weight: number;
  readonly executors?: number;
  readonly seq: number;
}

/** Takes an offer; an older one than known changes nothing. */
export function offer(state: DispatcherState, message: OfferMessage, now: number): void {
  const known = state.offers[message.run];
  if (known !== undefined && message.seq < known.seq) return;
  const served = known?.served ?? lowestServed(state);
  const grew = known === undefined || message.want > known.want;
  state.offers[message.run] = {
    ...message,
    nudged_at: grew ? 0 : (known?.nudged_at ?? 0),
    backoff: grew ? FIRST_NUDGE_MS : (known?.backoff ?? FIRST_NUDGE_MS),
    changed_at: now,
    served,
  };
}

/** A newcomer starts level with the least served run, not at zero: it must not crowd out those before it. */
function lowestServed(state: DispatcherState): number {
  const standing = Object.values(state.offers).filter((each) => each.want > 0);
  return standing.length === 0 ? 0 : Math.min(...standing.map((each) => each.served));
}

export interface NextRequest {
  readonly executor: string;
  /** Model requests the executor can still carry. */
  readonly free: number;
  /** Runs it holds tickets of. */
  readonly serving: readonly { readonly run: string; readonly requests: number }[];
  /** Offers it followed in vain (`none`, `closed`, `gone`): withdrawn unless a newer one came. */
  readonly refused: readonly { readonly run: string; readonly seq: number }[];
}
export interface NextAnswer {
  readonly runs: readonly { readonly run: string; readonly want: number; readonly seq: number }[];
  /** Lanes that all runs together want and nobody has. */
  readonly wanted: number;
  /** A run whose lanes the executor should give back at the next unit border, because another has none; null = none. */
  readonly yield: string | null;
}

/** Names the runs an executor should join, least served first; an executor that is full may be told to make room. */
export function next(state: DispatcherState, request: NextRequest, now: number): NextAnswer {
  for (const { run, seq } of request.refused) {
    const known = state.offers[run];
    if (known !== undefined && known.seq === seq) known.want = 0;
  }
  const serving = new Set(request.serving.map((each) => each.run));
  const offers = Object.values(state.offers);
  const wanted = offers.reduce((sum, each) => sum + each.want, 0);
  const standing = offers.filter((each) => each.want > 0 && !serving.has(each.run)).sort((a, b) => a.served - b.served || (a.run < b.run ? -1 : 1));
  if (request.free <= 0) {
    const largest = [...request.serving].sort((a, b) => b.requests - a.requests)[0];
    return { runs: [], wanted, yield: standing.length > 0 && largest !== undefined ? largest.run : null };
  }
  const chosen = standing.slice(0, Math.max(1, request.free));
  for (const each of chosen) {
    each.served += Math.max(1, Math.floor(request.free / chosen.length)) / each.weight;
    each.nudged_at = now;
    each.backoff = FIRST_NUDGE_MS;
  }
  return { runs: chosen.map(({ run, want, seq }) => ({ run, want, seq })), wanted, yield: null };
}

export interface Nudge {
  readonly run: string;
  readonly seq: number;
  /** Wake-ups to send. */
  readonly count: number;
  /** Length of the woken executor's slice while runs still want lanes, in milliseconds. */
  readonly slice: number;
}

/** The shortest slice; it doubles with every repeat of a nudge, since by then more consumers are not what is missing. */
export const FIRST_SLICE_MS = 20_000;

/** Offers to nudge for now, with how many wake-ups each: as many executors as its lanes need. Marks them nudged. */
export function nudge(state: DispatcherState, requestsPerExecutor: number, now: number): Nudge[] {
  const due: Nudge[] = [];
  for (const each of Object.values(state.offers)) {
    if (each.want <= 0) {
      if (now - each.changed_at > FORGET_MS) delete state.offers[each.run];
      continue;
    }
    if (now < nextNudge(each)) continue;
    const again = each.nudged_at > 0;
    each.backoff = again ? Math.min(LAST_NUDGE_MS, each.backoff * 2) : each.backoff;
    each.nudged_at = now;
    const slice = (FIRST_SLICE_MS * each.backoff) / FIRST_NUDGE_MS;
    const count = Math.min(MOST_NUDGES, each.want, Math.max(Math.ceil(each.want / requestsPerExecutor), each.executors ?? 0));
    due.push({ run: each.run, seq: each.seq, count, slice });
  }
  return due;
}

const nextNudge = (each: Offer): number => (each.nudged_at === 0 ? 0 : each.nudged_at + each.backoff);

/** When the Dispatcher has something to do by itself; null = never. */
export function nextDispatcherWake(state: DispatcherState): number | null {
  const due = Object.values(state.offers).map((each) => (each.want > 0 ? nextNudge(each) : each.changed_at + FORGET_MS + 1));
  return due.length === 0 ? null : Math.min(...due);
}
