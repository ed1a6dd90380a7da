import type { Bound } from "../../src/endpoint-limits/bound.ts";
import { isPrivateAddress } from "../../src/config/endpoints/addresses.ts";
import { EMBEDDED_BASE_URL, WORKERS_AI_BASE_URL } from "../../src/config/endpoints/providers.ts";
import type { Amounts } from "../../src/endpoint-limits/limit-kinds.ts";
import { Attendance } from "./attendance.ts";
import { Ceilings, type CeilingsNow } from "./ceilings/ceilings.ts";
import { isMaterial } from "./ceilings/knowledge.ts";
import { Circuit } from "./circuit.ts";
import { Concurrency } from "./concurrency.ts";
import { type Constraint, constraintsOf } from "./constraint.ts";
import { hurriedMs, limitedMs, MARGIN_MS, openMs, VALID_MS } from "./exchange-times.ts";
import type { ExchangeAnswer, ExchangeRequest, LimitedPlace, LimiterView, Share } from "./limiter-control.ts";
import { Minute } from "./minute.ts";
import { type Holder, isFull, isWaiting, wantOf, weightsOf } from "./party.ts";
import { Probe } from "./probe.ts";
import { Rates } from "./rates.ts";
import type { GivenToAll, StoredLimiter } from "./stored-limiter.ts";
import { viewOf } from "./view-of.ts";

/** Requests in flight at a public endpoint of which nothing is known, until answers say that it bears more. */
const START_IN_FLIGHT = 64;
/** What was found is written down at most so often, and when the last executor leaves. Milliseconds. */
const WRITE_MS = 3_000;
/** Until when shares may be out is written so far ahead, so that there is a write a minute at most for it. Milliseconds. */
const WRITE_AHEAD_MS = 60_000;
/** With many parties and holders they are divided anew less often, since it takes time that grows with them. Milliseconds. */
const restMs = (parties: number, holders: number): number => parties ** 2 / 1_000 + Math.max(0, holders - 50) / 50;
/** A pause or an endpoint that is down is looked at again after this at the latest. Milliseconds. */
const LOOK_MS = 2_000;

type Ok = Extract<ExchangeAnswer, { readonly kind: "ok" }>;

/** Of our own servers and those of this machine nobody expects limits. */
const isOwn = (base_url: string): boolean => base_url === EMBEDDED_BASE_URL || base_url === WORKERS_AI_BASE_URL || isPrivateAddress(base_url);

/**
 * All that a Limiter decides: who calls, what the endpoint bears, who may do how much until when. Pure: times are milliseconds of one clock that never goes
 * back, and what is to be kept is `unwritten`. In the first lease of a life that goes on from an earlier one nobody is granted more than it has already, since
 * shares of that one may be out that were not heard of yet.
 */
export class Book {
  readonly #attendance = new Attendance();
  readonly #concurrency = new Concurrency();
  readonly #rates = new Rates();
  readonly #circuit = new Circuit();
  readonly #minute = new Minute();
  readonly #probe = new Probe();
  readonly #life: string;
  readonly #settlesAt: number;
  /** What rates that are bounded from the beginning begin with, as a part of what may be saved up of them. */
  readonly #beginsWith: number;
  #ceilings: Ceilings | null = null;
  #place: LimitedPlace | null;
  #given: GivenToAll;
  #stored: StoredLimiter | null;
  #writtenAt = Number.NEGATIVE_INFINITY;
  /** A person changed what is to be kept. */
  #isChanged = false;
  #constraints: readonly Constraint[] = [];
  #now: CeilingsNow = { limits: {}, pause_until: null, probe: false, start: null };
  #dividedAt: number | null = null;

  /** `stored`: what an earlier life kept; null = there was none, or it kept nothing. `life`: of the process that its executors work in. */
  constructor({ stored, life, now }: { readonly stored: StoredLimiter | null; readonly life: string; readonly now: number }) {
    this.#stored = stored;
    this.#life = life;
    this.#place = stored?.place ?? null;
    this.#given = stored?.given ?? { everybody: null, teams: {} };
    const isRecent = stored !== null && stored.shares_until > now;
    const goesOn = isRecent && stored.life === life;
    this.#settlesAt = goesOn ? Math.min(stored.shares_until, now + VALID_MS + MARGIN_MS) : now;
    // What an earlier life had handed out may still be used, and what was used a moment ago counts at the endpoint.
    this.#beginsWith = goesOn ? -1 : isRecent ? 0 : 1;
    if (stored !== null) this.#begin(stored.place, now);
  }

  exchange(request: ExchangeRequest, now: number): Ok {
    const ceilings = this.#ceilings ?? this.#begin(request.place, now);
    this.#place = request.place;
    for (const executor of this.#attendance.expire(now)) this.#gone(executor);
    const { executor, holders, seen } = request;
    // Who comes new is about to begin, and is to hear of a pause soon.
    const isNew = this.#attendance.holdersOf(request).length < holders.length;
    const idle = !isNew && holders.every(({ in_flight, waiting }) => in_flight + waiting === 0);
    const openAgain = openMs(this.#attendance.executors, idle);
    const arrival = this.#attendance.arrive(request, now + Math.max(VALID_MS, 3 * openAgain) + MARGIN_MS);
    if (arrival === "late") return { ...this.#open(openAgain), mode: this.#isLimited ? "limited" : "open" };
    if (arrival === "new") {
      const in_flight = holders.reduce((sum, holder) => sum + holder.in_flight, 0);
      ceilings.heard(seen, { executor, in_flight }, now);
      this.#rates.used(seen);
      this.#circuit.heard(executor, seen, now);
      this.#minute.heard(
        seen,
        this.#attendance.holdersOf(request).map(({ party, report }) => [party.key, report.accepted] as const),
        now,
      );
    }
    if (holders.length === 0) {
      this.#gone(executor);
      return this.#open(openAgain);
    }
    this.#divide(ceilings, request, now);
    const answer = this.#isLimited ? this.#limited(request, now) : this.#open(openAgain);
    return { ...answer, ...this.#aside(request, answer, now) };
  }

  /** What holds from now on, by a person's word; what was given to that team, or to everybody, before does not. */
  give(team: string | null, limits: Amounts | null): void {
    const { [team ?? ""]: _, ...others } = this.#given.teams;
    if (team === null) this.#given = { ...this.#given, everybody: limits };
    else this.#given = { ...this.#given, teams: limits === null ? others : { ...others, [team]: limits } };
    this.#ceilings?.give(this.#given.everybody);
    this.#isChanged = this.#stored !== null;
  }

  /** What was found and told is found anew. */
  forget(now: number): void {
    if (this.#place === null) return;
    if (this.#stored !== null) this.#stored = { ...this.#stored, knowledge: null };
    this.#isChanged = this.#stored !== null;
    this.#begin(this.#place, now);
  }

  /** What is to be written down before anything that was decided is told; null = nothing. It counts as written. */
  unwritten(now: number): StoredLimiter | null {
    const stored = this.#stored;
    if (this.#place === null || this.#ceilings === null) return null;
    const knowledge = this.#ceilings.knowledge();
    const strict = this.#constraints.some(({ bound }) => bound.kind !== "start");
    const untilOver = now + VALID_MS + MARGIN_MS;
    const isDue =
      this.#isChanged ||
      (strict && (stored === null || stored.life !== this.#life || stored.shares_until < untilOver)) ||
      ((now - this.#writtenAt >= WRITE_MS || this.#attendance.executors === 0) && isMaterial(stored?.knowledge ?? null, knowledge));
    if (!isDue) return null;
    const shares_until = strict ? Math.max(stored?.shares_until ?? 0, untilOver + WRITE_AHEAD_MS) : (stored?.shares_until ?? now);
    this.#writtenAt = now;
    this.#isChanged = false;
    this.#stored = { version: 1, place: this.#place, knowledge, given: this.#given, life: this.#life, shares_until };
    return this.#stored;
  }

  /** Null where nobody has called it and nothing is kept. `team`: runs of others are counted together; null = all are told apart. */
  view(team: string | null, now: number): LimiterView | null {
    if (this.#place === null || this.#ceilings === null) return null;
    for (const executor of this.#attendance.expire(now)) this.#gone(executor);
    const ceilings = this.#ceilings.at(now);
    return viewOf(
      {
        ...{ place: this.#place, mode: this.#isLimited ? "limited" : "open", ceilings, given: this.#given },
        ...{ parties: [...this.#attendance.parties], downSince: this.#circuit.downSince, minute: this.#minute },
        boundOf: (party) => (isFull(party) ? this.#concurrency.boundOf(party) : null) ?? this.#rates.boundOf(party),
      },
      team,
      now,
    );
  }

  get #isLimited(): boolean {
    return this.#constraints.length > 0 || this.#now.probe;
  }

  #begin({ base_url }: LimitedPlace, now: number): Ceilings {
    const ceilings = new Ceilings(this.#stored?.knowledge ?? null, now, { start: isOwn(base_url) ? null : START_IN_FLIGHT });
    ceilings.give(this.#given.everybody);
    this.#ceilings = ceilings;
    return ceilings;
  }

  #gone(executor: string): void {
    this.#ceilings?.left(executor);
    this.#probe.left(executor);
  }

  #divide(ceilings: Ceilings, request: ExchangeRequest, now: number): void {
    const parties = [...this.#attendance.parties];
    const last = this.#dividedAt;
    const isKnown = this.#attendance.holdersOf(request).every(({ isNew }) => !isNew);
    if (
      last !== null &&
      isKnown &&
      now - last <
        restMs(
          parties.length,
          parties.reduce((sum, { holders }) => sum + holders.size, 0),
        )
    )
      return;
    this.#dividedAt = now;
    this.#now = ceilings.at(now);
    this.#constraints = constraintsOf(this.#now, new Map(Object.entries(this.#given.teams)), parties);
    for (const { holders } of parties) for (const holder of holders) holder.isNew = false;
    if (this.#constraints.length === 0) return;
    const seconds = Math.max(0, now - (last ?? now)) / 1_000;
    const weights = weightsOf(parties);
    this.#concurrency.divide(this.#constraints, weights, seconds);
    const begin = last === null ? this.#beginsWith : 0;
    const isStill = this.#now.probe || (this.#now.pause_until ?? 0) > now;
    this.#rates.divide(this.#constraints, weights, { seconds, exchangeMs: limitedMs(this.#attendance.executors), begin, isStill, now });
  }

  #open(again_ms: number): Ok {
    return { kind: "ok", mode: "open", shares: [], over_ms: 0, valid_ms: VALID_MS, again_ms, pause_ms: null, down: null, bound: null };
  }

  #limited(request: ExchangeRequest, now: number): Ok {
    const executors = this.#attendance.executors;
    const usual = limitedMs(executors);
    const holders = this.#attendance.holdersOf(request);
    const stands = this.#circuit.downSince !== null || (this.#now.pause_until ?? 0) > now;
    const someWait = [...this.#attendance.parties].some(isWaiting);
    let isShort = false;
    const shares = holders.map((holder): Share => {
      const concurrent = this.#concurrentOf(holder, request.executor, now);
      const held = Math.max(holder.report.in_flight, holder.had);
      holder.may = Math.max(holder.may, concurrent ?? 0);
      isShort ||= someWait && concurrent !== null && (concurrent < Math.min(holder.target ?? 0, wantOf(holder)) || concurrent < held);
      const slots = (concurrent ?? holder.report.most) - holder.report.in_flight;
      const added = this.#rates.grant(holder, stands ? null : slots, this.#attendance.parties, usual);
      const bound = this.#boundOf(holder, concurrent);
      return { id: holder.report.id, concurrent, ...added, ...(bound === null ? {} : { bound }) };
    });
    const again_ms = isShort ? hurriedMs(executors) : usual;
    return { ...this.#open(again_ms), mode: "limited", shares, over_ms: usual, bound: shares.find(({ bound }) => bound !== undefined)?.bound ?? null };
  }

  #concurrentOf(holder: Holder, executor: string, now: number): number | null {
    if (this.#now.probe) {
      const isPaused = (this.#now.pause_until ?? 0) > now;
      return this.#probe.concurrentOf(holder.report, executor, { now, isNew: !holder.party.isServed, isPaused });
    }
    const { in_flight, allowed } = holder.report;
    if (holder.target === null) return null;
    // While nobody can have more nobody is to have less: what is given up would lie idle.
    const wanted = now < this.#settlesAt ? Math.max(in_flight, allowed ?? 0) : holder.target;
    return this.#concurrency.shareOf(holder, wanted, this.#attendance.parties);
  }

  /** The strictest that keeps a holder waiting which may have so many in flight. */
  #boundOf({ report, party }: Holder, concurrent: number | null): Bound | null {
    if (report.waiting === 0) return null;
    const full = concurrent !== null && report.in_flight >= concurrent ? this.#concurrency.boundOf(party) : null;
    return full ?? this.#rates.boundOf(party);
  }

  /** Pause and outage, which hold in either mode. */
  #aside({ holders }: ExchangeRequest, { again_ms, bound }: Ok, now: number): Partial<Ok> {
    const { downSince } = this.#circuit;
    if (downSince !== null) {
      const ask = holders.length > 0 && this.#circuit.takeTurn(now);
      const turn = Math.max(100, (this.#circuit.nextTurn ?? now) - now);
      return { down: { since_ms: now - downSince, ask }, again_ms: Math.min(again_ms, LOOK_MS, turn), bound: { kind: "down", limit: null, source: null } };
    }
    const pause = (this.#now.pause_until ?? 0) - now;
    if (pause <= 0) return { bound: this.#now.probe ? PAUSED : bound };
    return { pause_ms: pause, again_ms: Math.min(LOOK_MS, Math.max(again_ms, pause)), bound: PAUSED };
  }
}

const PAUSED: Bound = { kind: "pause", limit: null, source: null };
