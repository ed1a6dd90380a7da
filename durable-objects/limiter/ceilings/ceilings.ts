import { type Amounts, LIMIT_KINDS, type LimitKind, RATE_KINDS, type RateKind, type ToldLimits } from "../../../src/endpoint-limits/limit-kinds.ts";
import type { Sightings } from "../limiter-control.ts";
import { Ceiling, type Source } from "./ceiling.ts";
import { CleanMarks } from "./clean-marks.ts";
import { Incident } from "./incident.ts";
import type { Knowledge, KnownLimit } from "./knowledge.ts";
import { OpenRequests } from "./open-requests.ts";
import { RefusalBudget } from "./refusal-budget.ts";
import { StartBound } from "./start-bound.ts";
import { bindingKind, type Uses } from "./suspects.ts";
import { ToldNumbers } from "./told-limits.ts";
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

/** Who saw something: `in_flight` = requests that it has open now. */
export interface SeenBy {
  readonly executor: string;
  readonly in_flight: number;
}

const MINUTE_MS = 60_000;
/** Everything was refused for longer than any window: no limit is learned from it. */
const STORM_MS = 65_000;
/** While it is not clear what refuses, so much of what was delivered is sent. */
const SLOWED = 0.9;
/** Of a first look whether anything is taken. */
const LOOK = 0.4;
/** Nothing of fewer requests than a share of the refused ones counts as being taken: some are on their way. */
const HARDLY = 0.15;
/** Refusals in the last part of a look are the same to its end: what was taken meanwhile is all that can be. */
const STILL = 0.35;
const JUDGED_AFTER_MS = 600;
const OVER_AFTER_MS = 700;
/** Refusals so shortly after silence are the same silence. */
const SAME_SILENCE_MS = 5_000;
/** Silence that is longer than what a bucket takes to fill again for one request: what refuses counts a window. */
const WINDOW_SILENCE_MS = 3_000;
const SAME_LIMIT = 0.1;
/** The endpoint says that there is more than this share of a limit left: it is not what refuses. */
/** A refusal so soon after a cut, and what is cut then at most. */
const SOON_MS = 10_000;
const SOON_CUT = 0.6;
const PLENTY = 0.2;
const OVERLOAD_CUT = 0.8;
const LEAST_PACE = 6;
const USED = 0.85;
/** Incidents so near to each other are of one change. */
const FLUX_MS = 15_000;
const FIRST_MOMENT_MS = 2_500;
const REMEMBERED_MS = 15 * MINUTE_MS;

const formOf = (kind: LimitKind): "rate" | "concurrent" => (kind === "concurrent" ? "concurrent" : "rate");

/**
 * Finds out what an endpoint bears from what executors saw: headers, words of refusals, and refusals that say nothing. Pure: times are milliseconds of one
 * clock that never goes back.
 */
export class Ceilings {
  readonly #traffic = new Traffic();
  readonly #ceilings = new Map<LimitKind, Ceiling>();
  readonly #told = new ToldNumbers();
  readonly #budget = new RefusalBudget();
  readonly #start: StartBound;
  #marks: CleanMarks;
  #given: Amounts = {};
  #incident: Incident | null = null;
  /** Paces as they were when the incident began. */
  #pacesThen: { [K in LimitKind]?: number } = {};
  #limitsThen: { [K in LimitKind]?: number } = {};
  #sureThen: ReadonlySet<LimitKind> = new Set();
  #triedThen: ReadonlySet<LimitKind> = new Set();
  #plenty = new Set<LimitKind>();
  #past: { readonly at: number; readonly uses: Uses }[] = [];
  /** When the last incident had its last refusal. */
  #refusedLast = Number.NEGATIVE_INFINITY;
  #silence = { ended: Number.NEGATIVE_INFINITY, tries: 0 };
  #at: number;

  /** `knowledge`: what an earlier life found. `start`: requests in flight to begin with where nothing is known; null = no bound. */
  constructor(knowledge: Knowledge | null, now: number, options: { readonly start: number | null }) {
    this.#at = now;
    this.#marks = new CleanMarks(now);
    for (const kind of LIMIT_KINDS) {
      const known = knowledge?.limits[kind];
      if (known === undefined) continue;
      this.#ceilings.set(kind, new Ceiling(known.limit, known.source, formOf(kind), true));
      if (known.untrue !== undefined) this.#told.untrue(kind, known.untrue);
    }
    this.#start = new StartBound(this.#ceilings.size > 0 ? null : options.start);
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
    if (seen.told !== null) this.#hearTold(seen.told);
    const refused = seen.rate_limited + seen.overloaded;
    if (refused > 0) this.#hearRefusals(seen, from, now);
    else {
      this.#start.passed(seen.sent, this.#traffic.inFlight(now));
      const incident = this.#incident;
      if (incident?.isSilent && seen.sent > 0 && this.#traffic.reportedBefore(from.executor) >= incident.last) incident.trySent(now);
    }
    this.#advance(now);
  }

  at(now: number): CeilingsNow {
    this.#advance(now);
    const limits: { [K in LimitKind]?: CeilingNow } = {};
    for (const kind of LIMIT_KINDS) {
      const limit = this.#limitNow(kind);
      if (limit !== null) limits[kind] = limit;
    }
    const incident = this.#incident;
    return {
      limits,
      pause_until: incident !== null && incident.pauseUntil > now ? incident.pauseUntil : null,
      probe: incident?.isSilent ?? false,
      start: this.#start.bound,
    };
  }

  knowledge(): Knowledge {
    const limits: { [K in LimitKind]?: KnownLimit } = {};
    for (const [kind, { limit, source }] of this.#ceilings) {
      const untrue = this.#told.lieOf(kind);
      limits[kind] = { limit, source, ...(untrue === null ? {} : { untrue }) };
    }
    return { version: 1, limits };
  }

  #limitNow(kind: LimitKind): CeilingNow | null {
    const ceiling = this.#ceilings.get(kind);
    let now: CeilingNow | null = ceiling === undefined ? null : { limit: ceiling.limit, source: ceiling.source, pace: ceiling.pace };
    if (kind === "requests" && this.#incident !== null) {
      const pace = Math.max(LEAST_PACE, this.#incident.pace);
      if (now === null || pace < now.pace) now = { limit: now?.limit ?? pace, source: now?.source ?? "found", pace };
    }
    const given = this.#given[kind];
    if (given !== undefined && (now === null || given <= now.pace)) now = { limit: given, source: "given", pace: given };
    if (now !== null && kind === "concurrent") return { ...now, pace: Math.max(1, Math.floor(now.pace + 1e-9)) };
    return now;
  }

  #hearTold(told: ToldLimits): void {
    for (const kind of RATE_KINDS) {
      const limit = told[kind]?.limit;
      if (limit === undefined || !this.#told.isNews(kind, limit)) continue;
      const found = this.#ceilings.get(kind);
      const corrected = this.#told.corrected(kind, limit, found?.source === "found" ? found.limit : null);
      this.#ceilings.set(kind, corrected === limit ? new Ceiling(limit, "told", "rate", true) : new Ceiling(corrected, "found", "rate", false));
      // What is untrue once is not believed again; the next number is held against this one.
      if (corrected !== limit) this.#told.untrue(kind, limit);
    }
  }

  #hearRefusals(seen: Sightings, from: SeenBy, now: number): void {
    this.#start.end();
    const times = seen.refusals.map(({ ago_ms }) => now - ago_ms);
    const incident = this.#incident ?? this.#begin(Math.min(now, ...times), now);
    const count = seen.rate_limited + seen.overloaded;
    const newest = Math.max(...(times.length === 0 ? [now] : times));
    incident.last = Math.max(incident.last, newest);
    incident.overloaded += seen.overloaded;
    const said = this.#traffic.openBy(now);
    for (const { in_flight, named, named_limit, retry_after_ms, told, ago_ms } of seen.refusals) {
      incident.open.refused(from.executor, in_flight, said);
      if (named !== null) incident.named.set(named, { count: (incident.named.get(named)?.count ?? 0) + 1, limit: named_limit });
      if (retry_after_ms !== null) incident.pause(now - ago_ms + retry_after_ms, now - ago_ms);
      if (told !== null) this.#hearPlenty(told);
    }
    incident.refused += count;
    const fresh = newest > incident.since;
    if (incident.isSilent) {
      if (fresh || newest > incident.pauseUntil) incident.silent(now);
    } else if (fresh) incident.refusedSince += count;
  }

  #hearPlenty(told: ToldLimits): void {
    for (const kind of RATE_KINDS) {
      const { limit, remaining } = told[kind] ?? { limit: 0, remaining: null };
      if (remaining === null || !this.#told.isBelieved(kind, limit)) continue;
      if (remaining > PLENTY * limit) this.#plenty.add(kind);
    }
  }

  #begin(began: number, now: number): Incident {
    const same = now - this.#silence.ended < SAME_SILENCE_MS;
    const incident = new Incident(began, now, { open: new OpenRequests(this.#traffic.openBy(now)), tries: same ? this.#silence.tries : 0 });
    const lag = this.#traffic.lag(now);
    incident.since = Math.max(incident.pauseUntil, now + lag);
    const over = Math.max(2_000, lag);
    incident.before = (this.#traffic.taken("requests", began - over, began) * MINUTE_MS) / over;
    incident.pace = LOOK * incident.before;
    this.#pacesThen = {};
    this.#limitsThen = {};
    this.#plenty = new Set();
    for (const [kind, { pace, limit }] of this.#ceilings) {
      this.#pacesThen[kind] = pace;
      this.#limitsThen[kind] = limit;
    }
    this.#triedThen = new Set([...this.#ceilings].flatMap(([kind, { isAbove }]) => (isAbove ? [kind] : [])));
    this.#sureThen = new Set([...this.#ceilings].flatMap(([kind, { sure }]) => (sure ? [kind] : [])));
    this.#incident = incident;
    this.#marks.refused();
    return incident;
  }

  /** What time alone brings. */
  #advance(now: number): void {
    const passed = Math.max(0, now - this.#at);
    this.#at = Math.max(this.#at, now);
    const incident = this.#incident;
    if (incident !== null) this.#judge(incident, now);
    else this.#passed(passed, now);
  }

  #judge(incident: Incident, now: number): void {
    if (incident.isSilent) {
      const broken = incident.brokenAt(now);
      if (broken !== null) this.#settle(incident, now);
      return;
    }
    const lag = this.#traffic.lag(now);
    const since = now - incident.since;
    if (incident.refusedSince > 0) {
      if (since < Math.max(JUDGED_AFTER_MS, lag)) return;
      // Nothing is sent in a pause that the endpoint asked for.
      const to = incident.pauseUntil > incident.since ? Math.max(incident.last, incident.since + JUDGED_AFTER_MS) : now;
      const taken = this.#traffic.taken("requests", incident.since, to);
      const { refusedSince } = incident;
      const delivered = (taken * MINUTE_MS) / (to - incident.since);
      if (taken <= Math.max(1, HARDLY * refusedSince)) incident.silent(now);
      else if (refusedSince > HARDLY * taken && incident.last > to - (to - incident.since) * STILL) incident.delivers(delivered, SLOWED * delivered, now + lag);
      else incident.slowed(SLOWED * incident.pace, now + lag);
    } else if (since >= lag + OVER_AFTER_MS) this.#settle(incident, now);
  }

  #settle(incident: Incident, now: number): void {
    this.#incident = null;
    if (incident.isSilent) this.#silence = { ended: now, tries: Math.max(0, incident.tries - 1) };
    const uses = this.#usesAt(incident.began, incident.open.atLast);
    for (const [kind, ceiling] of this.#ceilings) ceiling.rest(uses[kind]);
    if (incident.silence > STORM_MS) return;
    const perMinute = this.#traffic.taken("requests", now - MINUTE_MS, now);
    this.#budget.spent(incident.refused, incident.waited, this.#triedThen.size > 0, perMinute);
    this.#past = [{ at: now, uses }, ...this.#past.filter(({ at }) => now - at < REMEMBERED_MS)].slice(0, 8);
    const kind = this.#kindOf(incident, uses);
    const found = this.#estimate(kind, incident, uses);
    this.#cut(kind, Math.max(1, found), this.#isWindowed(incident), this.#saidOf(kind, incident, uses));
    this.#refusedLast = incident.last;
    if ((this.#past[1]?.at ?? Number.NEGATIVE_INFINITY) > now - MINUTE_MS) this.#marks = new CleanMarks(now);
  }

  #kindOf(incident: Incident, uses: Uses): LimitKind {
    const [named] = [...incident.named].sort(([, a], [, b]) => b.count - a.count);
    if (named !== undefined) return named[0];
    if (incident.overloaded * 2 > incident.refused) return "concurrent";
    // Of the first moment nothing is known but how many were open.
    if (incident.began - this.#traffic.first < FIRST_MOMENT_MS && uses.concurrent > 0) return "concurrent";
    const before = this.#past.slice(1);
    return bindingKind({
      uses,
      before: before.map((past) => past.uses),
      in_flight: incident.open,
      clean: this.#marks.most,
      isFirst: incident.began - (before[0]?.at ?? Number.NEGATIVE_INFINITY) > FLUX_MS,
      limits: this.#limitsThen,
      sure: this.#sureThen,
      tried: this.#triedThen,
      plenty: this.#plenty,
    });
  }

  #estimate(kind: LimitKind, incident: Incident, uses: Uses): number {
    if (kind === "concurrent") {
      if (incident.overloaded * 2 > incident.refused) return OVERLOAD_CUT * uses.concurrent;
      // What executors had open is known to some per cent, since each says it at a time of its own.
      const clean = this.#marks.most.concurrent;
      return clean > uses.concurrent && clean < uses.concurrent * (1 + SAME_LIMIT) + 1 ? clean : uses.concurrent;
    }
    if (this.#isWindowed(incident)) return Math.min(uses[kind], this.#traffic.taken(kind, incident.last - MINUTE_MS, incident.last));
    const delivered = (incident.delivered ?? incident.before) * this.#traffic.mean(kind);
    const ceiling = this.#ceilings.get(kind);
    // What was found just now is too much: between two refusals a bucket gives what it is filled with.
    const since = incident.began - this.#refusedLast;
    if (ceiling !== undefined && since < SOON_MS && since > 0) {
      const given = (this.#traffic.taken(kind, this.#refusedLast, incident.began) * MINUTE_MS) / since;
      return Math.min(uses[kind], Math.max(given, SOON_CUT * ceiling.limit));
    }
    // A minute of which only a part has passed says too little.
    const isYoung = incident.began - this.#traffic.first < MINUTE_MS;
    return isYoung ? Math.max(uses[kind], delivered) : uses[kind];
  }

  #isWindowed = ({ silence, waited }: Incident): boolean => Math.max(silence, waited) > WINDOW_SILENCE_MS;

  /** The limit in the words of the refusals, where it can be true: no refusal comes before a limit is used up. */
  #saidOf(kind: LimitKind, incident: Incident, uses: Uses): number | null {
    const said = incident.named.get(kind)?.limit ?? null;
    if (said === null || !this.#told.isBelieved(kind, said)) return null;
    if (said <= (1 + SAME_LIMIT) * uses[kind]) return said;
    this.#told.untrue(kind, said);
    return null;
  }

  /** `sure`: it was counted over a whole window. */
  #cut(kind: LimitKind, found: number, sure: boolean, said: number | null): void {
    for (const [other, { source, sure }] of this.#ceilings) if (other !== kind && source === "found" && !sure) this.#ceilings.delete(other);
    const ceiling = this.#ceilings.get(kind);
    if (said !== null && ceiling?.limit !== said) {
      this.#ceilings.set(kind, new Ceiling(said, "told", formOf(kind), true));
      return;
    }
    if (ceiling === undefined) {
      this.#ceilings.set(kind, new Ceiling(found, "found", formOf(kind), sure));
      return;
    }
    const lower = Math.min(found, this.#pacesThen[kind] ?? found);
    const off = lower / ceiling.limit - 1;
    if (ceiling.source === "told" && off > -SAME_LIMIT) return;
    if (ceiling.source === "told") {
      this.#told.untrue(kind, ceiling.limit);
      this.#ceilings.set(kind, new Ceiling(lower, "found", formOf(kind), sure));
      return;
    }
    const same = Math.abs(off) <= SAME_LIMIT;
    // Noise is evened out; whole requests have none.
    const even = same && ceiling.sure && kind !== "concurrent";
    ceiling.cut(even ? (ceiling.limit + lower) / 2 : lower, same || sure);
  }

  /** `ms` without a refusal. */
  #passed(ms: number, now: number): void {
    this.#marks.mark(this.#usesAt(now, this.#traffic.inFlight(now)), this.#traffic.lag(now), now);
    for (const [kind, ceiling] of this.#ceilings) {
      if (!this.#isUsed(kind, ceiling.pace, now)) continue;
      ceiling.passed(ms, this.#budget.mayTry);
      if (ceiling.source === "told" && ceiling.pace > ceiling.limit * (1 + SAME_LIMIT)) {
        this.#told.untrue(kind, ceiling.limit);
        ceiling.source = "found";
      }
      if (ceiling.isGone) this.#ceilings.delete(kind);
    }
  }

  /** Whether as much is used of a kind as may be, so that its limit would show. */
  #isUsed(kind: LimitKind, pace: number, now: number): boolean {
    if (kind === "concurrent") return this.#traffic.inFlight(now) >= USED * Math.floor(pace);
    const mean = Math.max(1, this.#traffic.mean(kind));
    const over = Math.min(MINUTE_MS, Math.max(5_000, (20 * mean * MINUTE_MS) / pace));
    const to = now - this.#traffic.lag(now);
    return this.#traffic.taken(kind, to - over, to) >= (USED * pace * over) / MINUTE_MS;
  }

  #usesAt(time: number, concurrent: number): Uses {
    const uses: Record<LimitKind, number> = { concurrent, requests: 0, tokens: 0, input_tokens: 0, output_tokens: 0 };
    for (const kind of RATE_KINDS) uses[kind as RateKind] = this.#traffic.taken(kind, time - MINUTE_MS, time);
    return uses;
  }
}
