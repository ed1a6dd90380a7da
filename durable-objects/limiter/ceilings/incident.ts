import type { LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import type { OpenRequests } from "./open-requests.ts";

/** Everybody draws breath after a first refusal: what is known only then reaches all. */
const BREATH_MS = 500;
const FIRST_TRY_MS = 1_000;
/** Windows of providers are a minute: while one may be what refuses, its end is looked for closely. */
const MOST_TRY_MS = 4_000;
const WINDOW_MS = 65_000;
const MOST_STORM_TRY_MS = 15_000;
/** A refusal comes sooner than this; a request without one was taken. */
const REFUSED_WITHIN_MS = 1_500;

/**
 * Refusals that belong together: one cut, however many they are. It begins with a breath for all; then a slower pace, and where that is refused
 * everything, silence: one request at a time, to see whether it is over.
 */
export class Incident {
  readonly began: number;
  /** When the newest refusal came. */
  last: number;
  refused = 0;
  /** Since the pace of now was set. */
  refusedSince = 0;
  since: number;
  pauseUntil: number;
  /** When everything was refused; null while something is taken. */
  silentSince: number | null = null;
  /** Longest time for which the endpoint asked to be left alone. */
  waited = 0;
  /** Requests per minute that were taken before it, those that are sent meanwhile, and those that were taken while others were refused. */
  before = 0;
  pace = 0;
  delivered: number | null = null;
  readonly named = new Map<LimitKind, { count: number; limit: number | null }>();
  readonly open: OpenRequests;
  overloaded = 0;
  #tries: number;
  #sentAt: number | null = null;

  /** `tries`: of an incident that ended so shortly ago that this is the same. */
  constructor(began: number, now: number, { open, tries }: { readonly open: OpenRequests; readonly tries: number }) {
    this.open = open;
    this.began = began;
    this.last = began;
    this.pauseUntil = now + BREATH_MS;
    this.since = this.pauseUntil;
    this.#tries = tries;
    if (tries > 0) this.silent(now);
  }

  get isSilent(): boolean {
    return this.silentSince !== null;
  }
  /** For how long everything was refused. */
  get silence(): number {
    return this.silentSince === null ? 0 : this.last - this.silentSince;
  }
  get tries(): number {
    return this.#tries;
  }

  /** Nothing is taken any more: a request at a time, after waits that grow. */
  silent(now: number): void {
    this.silentSince ??= this.began;
    this.#sentAt = null;
    const most = this.silence > WINDOW_MS ? MOST_STORM_TRY_MS : MOST_TRY_MS;
    this.pauseUntil = Math.max(this.pauseUntil, now + Math.min(most, FIRST_TRY_MS * 2 ** this.#tries));
    this.#tries++;
  }

  /** The endpoint asked, at `asked`, to be left alone until then. */
  pause(until: number, asked: number): void {
    this.waited = Math.max(this.waited, until - asked);
    this.pauseUntil = Math.max(this.pauseUntil, until);
    if (this.refused === 0) this.since = Math.max(this.since, until);
  }

  /** A slower pace holds from now on. */
  slowed(pace: number, now: number): void {
    this.pace = pace;
    this.since = Math.max(now, this.pauseUntil);
    this.refusedSince = 0;
  }

  delivers(delivered: number, pace: number, now: number): void {
    this.delivered = delivered;
    this.slowed(pace, now);
  }

  /** In silence, a request was sent and nothing was refused. */
  trySent(now: number): void {
    this.#sentAt ??= now;
  }

  /** When the request was sent that ended the silence; null while there is none. */
  brokenAt(now: number): number | null {
    return this.#sentAt !== null && now - this.#sentAt >= REFUSED_WITHIN_MS ? this.#sentAt : null;
  }
}
