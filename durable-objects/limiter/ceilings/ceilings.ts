import { type Amounts, LIMIT_KINDS, type LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";
import { STORM_MS } from "../../../src/limits.ts";
import type { Sightings } from "../limiter-control.ts";
import type { Ceiling, Source } from "./ceiling.ts";
import { Findings, usesAt } from "./findings.ts";
import { Incident } from "./incident.ts";
import type { Knowledge } from "./knowledge.ts";
import { KnownLimits } from "./known-limits.ts";
import { RefusalBudget } from "./refusal-budget.ts";
import type { SeenBy } from "./seen-by.ts";
import { StartBound } from "./start-bound.ts";
import { Strays } from "./strays.ts";
import { Traffic } from "./traffic.ts";

export interface CeilingNow {
  /** As known: per minute, or in flight. For people. */
  readonly limit: number;
  readonly source: Source;
  /** What may be used now, evenly: below the limit, or above it to see whether it is still there. Whole numbers, at least 1, where it is in flight. */
  readonly pace: number;
}

export interface CeilingsNow {
  /** Of each kind that something limits. */
  readonly limits: { readonly [K in LimitKind]?: CeilingNow };
  /** Nothing is sent before; null = no pause. */
  readonly pause_until: number | null;
  /** Everything was refused of late: after the pause one request at a time is sent, and no other until it is known to be taken. */
  readonly probe: boolean;
  /** Requests in flight at most, all together, at an endpoint of which nothing is known yet. */
  readonly start: number | null;
}

const MINUTE_MS = 60_000;
/** Everything was refused for longer than any window: no limit is learned from it. */
const BEYOND_WINDOWS_MS = 65_000;
/** Nor from what began longer ago than traffic is remembered. */
const REMEMBERED_MS = 4 * MINUTE_MS;
/** Refusals so shortly after silence are the same silence. */
const SAME_SILENCE_MS = 5_000;
/** Requests per minute that are sent at least, to see what is taken. */
const LEAST_PACE = 6;
/** Whatever an endpoint says or was found to bear, so many of what was taken before are sent: without any nobody would ever find out that it bears more. */
const LEAST_REQUESTS = 1;
/** A minute is looked at so far ahead; where more than a limit is tried counting is off by some per cent; and what refuses may count no minute. */
const AHEAD_MS = 5_000;
const SLACK = 1.02;
const SLOWEST = 0.5;
/** So much of what may be used is all of it: executors come and go between two exchanges. */
const USED = 0.85;
/** What is used is looked at over so long, and over as many requests. */
const USED_OVER_MS = 5_000;
const USED_OVER = 20;

/**
 * Finds out what an endpoint bears from what executors saw: headers, words of refusals, and refusals that say nothing. Pure: times are milliseconds of one
 * clock that never goes back. docs/decisions/found-limits.md says how a limit is found.
 */
export class Ceilings {
  readonly #traffic = new Traffic();
  readonly #known: KnownLimits;
  readonly #findings: Findings;
  readonly #budget = new RefusalBudget();
  readonly #start: StartBound;
  #given: Amounts = {};
  #incident: Incident | null = null;
  readonly #strays = new Strays();
  #silence = { ended: Number.NEGATIVE_INFINITY, tries: 0 };
  #at: number;
  /** When a request was last accepted; of a life in which none was, when it began. */
  #acceptedAt: number;

  /** `knowledge`: what an earlier life found. `start`: requests in flight to begin with where nothing is known; null = no bound. */
  constructor(knowledge: Knowledge | null, now: number, options: { readonly start: number | null }) {
    this.#at = now;
    this.#acceptedAt = now;
    this.#findings = new Findings(now);
    this.#known = new KnownLimits(knowledge, now);
    this.#start = new StartBound(this.#known.isEmpty ? options.start : null);
  }

  /** Limits that a person gave; they are never exceeded. Null = none any more. */
  give(limits: Amounts | null): void {
    this.#given = limits ?? {};
  }

  /** An executor left: what it had in flight counts no more. */
  left(executor: string): void {
    this.#traffic.left(executor);
  }

  /** What one executor saw since it was heard last; each report counts once. */
  heard(seen: Sightings, from: SeenBy, now: number): void {
    this.#traffic.record(from.executor, from.in_flight, seen, now);
    this.#budget.accepted(seen.accepted, this.#traffic.taken("requests", now - MINUTE_MS, now));
    if (seen.accepted > 0) this.#acceptedAt = now;
    if (seen.told !== null) this.#known.hearTold(seen.told, now);
    if (seen.rate_limited + seen.overloaded > 0) this.#hearRefusals(seen, from, now);
    else {
      this.#start.passed(seen.sent, this.#traffic.inFlight(now));
      this.#incident?.hearOpen(from.executor, from.in_flight, now);
      if (seen.sent > 0) this.#incident?.hearSent(from.executor, this.#traffic, now);
    }
    this.#advance(now);
  }

  at(now: number): CeilingsNow {
    this.#advance(now);
    const limits: { [K in LimitKind]?: CeilingNow } = {};
    for (const kind of LIMIT_KINDS) {
      const limit = this.#limitNow(kind, now);
      if (limit !== null) limits[kind] = limit;
    }
    const incident = this.#isHopeless ? null : this.#incident;
    const pauseUntil = this.#incident === null ? this.#strays.pauseUntil : (incident?.pauseUntil ?? now);
    return {
      limits,
      pause_until: pauseUntil > now ? pauseUntil : null,
      probe: incident?.isSilent ?? false,
      start: this.#start.bound,
    };
  }

  knowledge(): Knowledge {
    return this.#known.knowledge();
  }

  /**
   * Everything was refused for longer than that costs nobody a retry: requests are to end as those do that were sent, and one at a time would take days for the
   * rest of a run. Until one is accepted nothing but limits that are known bounds them.
   */
  get #isHopeless(): boolean {
    return this.#incident !== null && this.#incident.last - Math.max(this.#incident.began, this.#acceptedAt) > STORM_MS;
  }

  #limitNow(kind: LimitKind, at: number): CeilingNow | null {
    const known = this.#known.of(kind);
    let now: CeilingNow | null =
      known === undefined
        ? null
        : { limit: known.limit, source: known.source, pace: Math.max(this.#within(kind, known, at), LEAST_REQUESTS * this.#traffic.mean(kind)) };
    if (kind === "requests" && this.#incident !== null && !this.#isHopeless) {
      const pace = Math.max(LEAST_PACE, this.#incident.pace);
      if (now === null || pace < now.pace) now = { limit: now?.limit ?? pace, source: now?.source ?? "found", pace };
    }
    const given = this.#given[kind];
    if (given !== undefined && (now === null || given <= now.pace)) now = { limit: given, source: "given", pace: given };
    if (now !== null && kind === "concurrent") return { ...now, pace: Math.max(1, Math.floor(now.pace + 1e-9)) };
    return now;
  }

  /** The pace of a limit of which it is sure, so that with what was taken lately no minute has more of it: after too much was sent, a window empties as slowly as it was filled. */
  #within(kind: LimitKind, { limit, pace, sure, isBucket }: Ceiling, now: number): number {
    if (kind === "concurrent" || !sure || isBucket) return pace;
    const most = pace > limit ? pace * SLACK : limit;
    const left = most - this.#traffic.taken(kind, now - MINUTE_MS + AHEAD_MS, now);
    return Math.min(pace, Math.max(SLOWEST * pace, (left * MINUTE_MS) / AHEAD_MS));
  }

  #hearRefusals(seen: Sightings, from: SeenBy, now: number): void {
    if (this.#incident !== null || this.#isNearKnown(now))
      return this.#hearIncident(this.#incident ?? this.#begin(now - longestAgo(seen), now), seen, from, now);
    const together = this.#strays.heard(seen, from, this.#traffic, now);
    if (together === null) return;
    const began = Math.min(...together.map((stray) => stray.heard - longestAgo(stray.seen)));
    for (const stray of together) this.#hearIncident(this.#incident ?? this.#begin(began, now), stray.seen, stray.from, stray.heard);
  }

  /** Whether as much is used as a limit that is known allows: a refusal is then of that. */
  #isNearKnown(now: number): boolean {
    return LIMIT_KINDS.some((kind) => {
      const known = this.#known.of(kind);
      return known !== undefined && this.#isUsed(kind, known.pace, now);
    });
  }

  #hearIncident(incident: Incident, seen: Sightings, from: SeenBy, now: number): void {
    this.#start.end();
    incident.hear(seen, from.executor, this.#traffic, now);
    for (const { told } of seen.refusals) for (const kind of told === null ? [] : this.#known.plentyIn(told)) incident.plenty.add(kind);
  }

  #begin(began: number, now: number): Incident {
    const tries = now - this.#silence.ended < SAME_SILENCE_MS ? this.#silence.tries : 0;
    this.#incident = new Incident(began, this.#known.now, { traffic: this.#traffic, now, tries });
    this.#findings.refused();
    return this.#incident;
  }

  /** What time alone brings. */
  #advance(now: number): void {
    const passed = Math.max(0, now - this.#at);
    this.#at = Math.max(this.#at, now);
    this.#known.count(this.#traffic, now - this.#traffic.lag(now));
    if (this.#incident === null) {
      this.#findings.mark(this.#traffic, now);
      this.#known.passed(passed, this.#budget.mayTry, (kind, pace) => this.#isUsed(kind, pace, now));
    } else if (this.#incident.isOver(this.#traffic, now)) this.#settle(this.#incident, now);
  }

  /** The incident is over: one cut, of the kind that it was for. */
  #settle(incident: Incident, now: number): void {
    this.#incident = null;
    if (incident.isSilent) this.#silence = { ended: now, tries: Math.max(0, incident.tries - 1) };
    const uses = usesAt(this.#traffic, incident.began, incident.open.atLast);
    this.#known.rest(uses);
    if (incident.silence > BEYOND_WINDOWS_MS || now - incident.began > REMEMBERED_MS) return;
    this.#budget.spent(incident, uses.requests, incident.began - this.#traffic.first < MINUTE_MS);
    const found = this.#findings.of(incident, this.#traffic, (kind) => this.#known.of(kind)?.limit, now);
    const said = this.#known.believed(found.kind, incident.named?.limit ?? null, uses[found.kind]);
    // Who refused before anything was used has said nothing of how much may be.
    if (said === null && uses[found.kind] < 1) return;
    this.#known.cut({ ...found, said }, incident.knownThen, incident.last);
  }

  /** Whether as much is used of a kind as may be, so that its limit would show. */
  #isUsed(kind: LimitKind, pace: number, now: number): boolean {
    if (kind === "concurrent") return this.#traffic.inFlight(now) >= USED * Math.floor(pace);
    const over = Math.min(MINUTE_MS, Math.max(USED_OVER_MS, (USED_OVER * Math.max(1, this.#traffic.mean(kind)) * MINUTE_MS) / pace));
    const to = now - this.#traffic.lag(now);
    return this.#traffic.taken(kind, to - over, to) >= (USED * pace * over) / MINUTE_MS;
  }
}

const longestAgo = ({ refusals }: Sightings): number => Math.max(0, ...refusals.map(({ ago_ms }) => ago_ms));
