import type { LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import { MAX_PAUSE_MS } from "../../../src/limits.ts";
import type { Sightings } from "../limiter-control.ts";
import type { KnownThen } from "./known-limits.ts";
import { OpenRequests } from "./open-requests.ts";
import type { Traffic } from "./traffic.ts";

const MINUTE_MS = 60_000;
/** Everybody draws breath after a first refusal: what is known only then reaches all. */
const BREATH_MS = 500;
/** Of what was taken before, so much is sent to see whether anything is taken; and of what is taken while other requests are refused. */
const LOOK = 0.4;
const SLOWED = 0.9;
/** Of what was taken before: over so long at least. */
const BEFORE_MS = 2_000;
/** A look is judged no sooner; without a refusal it is over. */
const JUDGED_AFTER_MS = 600;
const OVER_AFTER_MS = 700;
/** What is less than this share of what is refused is nothing: some of it is on its way and will be refused. */
const HARDLY = 0.15;
/** Refusals in the last part of a look are the same to its end: what was taken meanwhile is all that can be. */
const STILL = 0.35;
/** In silence: the first wait, the longest while a window of a minute may be what refuses, so that its end is seen, and the longest in a storm. */
const FIRST_TRY_MS = 1_000;
const MOST_TRY_MS = 4_000;
const WINDOW_MS = 65_000;
/** A minute after what was taken before the first refusal, and so much less is not worth a refusal. */
const MINUTE_OVER_MS = 60_500;
const SHORTLY_MS = 2_500;
const MOST_STORM_TRY_MS = 15_000;
/** Where minutes are those of a clock, so long after one begins it has begun there too; and so shortly before that a try would be refused for nothing. */
const TURNED_MS = 250;
const TURNING_MS = 750;
/** A refusal comes sooner than this; a request without one was taken. */
const REFUSED_WITHIN_MS = 1_500;

/**
 * Refusals that belong together: one cut, however many they are. It begins with a breath for all; then a slower pace, and where that is refused
 * everything, silence: one request at a time, to see whether it is over.
 */
export class Incident {
  readonly began: number;
  /** All have heard of it, and all that they did before has been heard. */
  readonly heardBy: number;
  /** What was known when it began. */
  readonly knownThen: KnownThen;
  readonly open: OpenRequests;
  /** Kinds that the endpoint says there is plenty of. */
  readonly plenty = new Set<LimitKind>();
  /** When the newest refusal came. */
  last: number;
  refused = 0;
  overloaded = 0;
  pauseUntil: number;
  /** Longest time for which the endpoint asked to be left alone. */
  waited = 0;
  /** The same of refusals that came when such a time was over: it asks for it whenever it refuses. */
  askedAgain = 0;
  /** Requests per minute that were taken before it, those that may be sent meanwhile, and those that were taken while others were refused. */
  readonly before: number;
  pace: number;
  delivered: number | null = null;
  readonly #named = new Map<LimitKind, { count: number; limit: number | null }>();
  /** The look of now: since when, and what was refused in it. */
  #since: number;
  #refusedSince = 0;
  #isSilent = false;
  #tries: number;
  #sentAt: number | null = null;
  #askedUntil = Number.NEGATIVE_INFINITY;

  /** `tries`: of silence that ended so shortly ago that this is the same. */
  constructor(began: number, knownThen: KnownThen, { traffic, now, tries }: { readonly traffic: Traffic; readonly now: number; readonly tries: number }) {
    this.began = began;
    this.last = began;
    this.knownThen = knownThen;
    this.open = new OpenRequests(traffic.openBy(now));
    this.pauseUntil = now + BREATH_MS;
    const lag = traffic.lag(now);
    this.heardBy = Math.max(this.pauseUntil, now + lag);
    this.#since = this.heardBy;
    const over = Math.max(BEFORE_MS, lag);
    this.before = (traffic.taken("requests", began - over, began) * MINUTE_MS) / over;
    this.pace = LOOK * this.before;
    this.#tries = tries;
    if (tries > 0) this.#tryLater(now);
  }

  /** Nothing at all is taken. */
  get isSilent(): boolean {
    return this.#isSilent;
  }
  /** For how long everything was refused. */
  get silence(): number {
    return this.#isSilent ? this.last - this.began : 0;
  }
  get tries(): number {
    return this.#tries;
  }
  get isOverload(): boolean {
    return this.overloaded * 2 > this.refused;
  }
  /** What most refusals name, and its limit where they say it. */
  get named(): { readonly kind: LimitKind; readonly limit: number | null } | null {
    const [most] = [...this.#named].sort(([, a], [, b]) => b.count - a.count);
    return most === undefined ? null : { kind: most[0], limit: most[1].limit };
  }

  /** What `executor` was refused. */
  hear(seen: Sightings, executor: string, traffic: Traffic, now: number): void {
    const count = seen.rate_limited + seen.overloaded;
    const newest = seen.refusals.reduce((latest, { ago_ms }) => Math.max(latest, now - ago_ms), Number.NEGATIVE_INFINITY);
    this.last = Math.max(this.last, newest);
    const said = traffic.openBy(now);
    for (const { in_flight, named, named_limit, retry_after_ms, ago_ms } of seen.refusals) {
      this.open.refused(executor, in_flight, said);
      if (named !== null) this.#named.set(named, { count: (this.#named.get(named)?.count ?? 0) + 1, limit: named_limit });
      if (retry_after_ms !== null) this.#pause(retry_after_ms, now - ago_ms);
    }
    this.refused += count;
    this.overloaded += seen.overloaded;
    // Refusals of what was sent before the look began say nothing of it.
    if (this.#isSilent) {
      if (newest > this.#since || newest > this.pauseUntil) this.#tryLater(now);
    } else if (newest > this.#since) this.#refusedSince += count;
  }

  /** `executor` was refused nothing; in the first breath nothing more begins, and what it has open counts. */
  hearOpen(executor: string, inFlight: number, now: number): void {
    if (now <= this.heardBy) this.open.heard(executor, inFlight);
  }

  /** `executor` sent something and was refused nothing: in silence that may be its end. */
  hearSent(executor: string, traffic: Traffic, now: number): void {
    if (this.#isSilent && traffic.reportedBefore(executor) >= this.last) this.#sentAt ??= now;
  }

  /** Whether it is over. */
  isOver(traffic: Traffic, now: number): boolean {
    if (this.#isSilent) return this.#sentAt !== null && now - this.#sentAt >= REFUSED_WITHIN_MS;
    const lag = traffic.lag(now);
    const looked = now - this.#since;
    // Where nothing was sent nothing could be refused.
    if (this.#refusedSince === 0) return looked >= lag + OVER_AFTER_MS && traffic.taken("requests", this.#since, now - lag) > 0;
    if (looked >= Math.max(JUDGED_AFTER_MS, lag)) this.#judge(traffic, lag, now);
    return false;
  }

  /** What was taken in the look, beside what was refused. */
  #judge(traffic: Traffic, lag: number, now: number): void {
    // Nothing is sent in a pause that the endpoint asked for.
    const to = this.pauseUntil > this.#since ? Math.max(this.last, this.#since + JUDGED_AFTER_MS) : now;
    const length = to - this.#since;
    const taken = traffic.taken("requests", this.#since, to);
    if (taken <= Math.max(1, HARDLY * this.#refusedSince)) return this.#tryLater(now);
    if (this.#refusedSince > HARDLY * taken && this.last > to - length * STILL) {
      this.delivered = (taken * MINUTE_MS) / length;
      this.pace = SLOWED * this.delivered;
    } else this.pace *= SLOWED;
    this.#since = Math.max(now + lag, this.pauseUntil);
    this.#refusedSince = 0;
  }

  /** A request at a time, after waits that grow. */
  #tryLater(now: number): void {
    this.#isSilent = true;
    this.#sentAt = null;
    const most = this.silence > WINDOW_MS ? MOST_STORM_TRY_MS : MOST_TRY_MS;
    this.pauseUntil = Math.max(this.pauseUntil, nextTry(now, Math.min(most, FIRST_TRY_MS * 2 ** this.#tries)));
    // Just before a minute is over it would be refused for a window of one.
    const over = this.began + MINUTE_OVER_MS;
    if (this.pauseUntil < over && this.pauseUntil > over - SHORTLY_MS) this.pauseUntil = over;
    this.#tries++;
  }

  /** The endpoint asked, at `asked`, to be left alone. */
  #pause(wished: number, asked: number): void {
    const ms = Math.min(wished, MAX_PAUSE_MS);
    if (this.waited > 0 && asked > this.#askedUntil) this.askedAgain = Math.max(this.askedAgain, ms);
    this.#askedUntil = Math.max(this.#askedUntil, asked + ms);
    this.waited = Math.max(this.waited, ms);
    this.pauseUntil = Math.max(this.pauseUntil, asked + ms);
    if (this.refused === 0) this.#since = Math.max(this.#since, asked + ms);
  }
}

/** After `wait`, but for a minute of the clock that begins before that, or just then. */
function nextTry(now: number, wait: number): number {
  const turned = Math.ceil(now / MINUTE_MS) * MINUTE_MS + TURNED_MS;
  return now + wait > turned - TURNING_MS && turned > now + TURNED_MS ? turned : now + wait;
}
