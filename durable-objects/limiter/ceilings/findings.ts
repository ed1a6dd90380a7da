import { type LimitKind, RATE_KINDS } from "../../../src/endpoint-limits/limit-kinds.ts";
import { CleanMarks } from "./clean-marks.ts";
import type { Incident } from "./incident.ts";
import { bindingKind, SAME, spread, type Uses } from "./suspects.ts";
import type { Traffic } from "./traffic.ts";

const MINUTE_MS = 60_000;
/** Silence that is longer than what a bucket takes to fill again for one request: what refuses counts a window. */
const WINDOW_SILENCE_MS = 3_000;
/** A refusal so soon after another one, and what is cut then at most. */
const SOON_MS = 20_000;
const SOON_CUT = 0.6;
const OVERLOAD_CUT = 0.8;
/** Nothing has a minute behind it yet, nor a second. */
const FIRST_MOMENT_MS = 2_500;
/** Incidents so near to each other are of one change. */
const FLUX_MS = 15_000;
const REMEMBERED_MS = 15 * MINUTE_MS;
const REMEMBERED = 8;
/** What executors had open is known to some per cent, since each says it at a time of its own. */
const ROUGHLY = 0.1;
/** So much more than a limit in a minute is more than counting can be wrong by. */
const BEYOND = 1.1;

/** A bucket of some seconds refuses what is sent too fast, however little it was in the minute before. */
const SHORT_MS = 10_000;

interface Past {
  readonly at: number;
  readonly uses: Uses;
  /** What would be used in a minute at the pace of the last seconds. */
  readonly paces: Uses;
}

interface Found {
  readonly kind: LimitKind;
  readonly limit: number;
  readonly sure: boolean;
  readonly isBucket: boolean;
}

/** What a limit is found out to be, from incidents and from what went well between them. */
export class Findings {
  #marks: CleanMarks;
  #past: Past[] = [];
  /** When the last incident had its last refusal. */
  #refusedLast = Number.NEGATIVE_INFINITY;

  constructor(now: number) {
    this.#marks = new CleanMarks(now);
  }

  /** Nothing is being refused. */
  mark(traffic: Traffic, now: number): void {
    this.#marks.mark(usesAt(traffic, now, traffic.inFlight(now)), traffic.lag(now), now);
  }

  /** Something is. */
  refused(): void {
    this.#marks.refused();
  }

  /** Which kind `incident` was for, and what its limit is, as far as counting tells. `known`: the limit of a kind so far. */
  of(incident: Incident, traffic: Traffic, known: (kind: LimitKind) => number | undefined, now: number): Found {
    const uses = usesAt(traffic, incident.began, incident.open.atLast);
    const before = this.#past.filter(({ at }) => now - at < REMEMBERED_MS);
    const kind = this.#kindOf(incident, uses, before, traffic);
    const spent = this.#isSpent(kind, incident, uses) ? incident.knownThen.limits[kind] : undefined;
    const paces = pacesAt(traffic, incident.began);
    const limit = spent ?? Math.max(1, this.#limitOf(kind, incident, uses, traffic, known(kind)), shortOf(kind, [{ at: now, uses, paces }, ...before]));
    this.#past = [{ at: now, uses, paces }, ...before].slice(0, REMEMBERED);
    this.#refusedLast = incident.last;
    // What went well before the first of several incidents may not do so any more.
    if (now - (before[0]?.at ?? Number.NEGATIVE_INFINITY) < MINUTE_MS) this.#marks = new CleanMarks(now);
    const isBucket = !isWindowed(incident) && kind !== "concurrent" && uses[kind] > BEYOND * limit;
    return { kind, limit, sure: spent !== undefined || (isWindowed(incident) && kind !== "concurrent"), isBucket };
  }

  #kindOf(incident: Incident, uses: Uses, before: readonly Past[], traffic: Traffic): LimitKind {
    if (incident.named !== null) return incident.named.kind;
    if (incident.isOverload) return "concurrent";
    const spent = RATE_KINDS.find((kind) => this.#isSpent(kind, incident, uses) && !incident.plenty.has(kind));
    if (spent !== undefined) return spent;
    // Of the first moment nothing is known but how many were open.
    if (incident.began - traffic.first < FIRST_MOMENT_MS && uses.concurrent > 0) return "concurrent";
    return bindingKind({
      uses,
      before: before.map((past) => past.uses),
      in_flight: incident.open,
      clean: this.#marks.most,
      isFirst: incident.began - (before[0]?.at ?? Number.NEGATIVE_INFINITY) > FLUX_MS,
      limits: incident.knownThen.limits,
      sure: incident.knownThen.sure,
      tried: incident.knownThen.tried,
      buckets: incident.knownThen.buckets,
      plenty: incident.plenty,
    });
  }

  /** More was used in the minute before than a limit that is sure, and just as much as came in since it was empty: it is that limit. */
  #isSpent(kind: LimitKind, incident: Incident, uses: Uses): boolean {
    const { spent, limits } = incident.knownThen;
    return spent.has(kind) && !isWindowed(incident) && uses[kind] > BEYOND * (limits[kind] ?? 0);
  }

  #limitOf(kind: LimitKind, incident: Incident, uses: Uses, traffic: Traffic, known: number | undefined): number {
    if (kind === "concurrent") {
      if (incident.isOverload) return OVERLOAD_CUT * uses.concurrent;
      const clean = this.#marks.most.concurrent;
      return clean > uses.concurrent && clean < uses.concurrent * (1 + ROUGHLY) + 1 ? clean : uses.concurrent;
    }
    // No refusal comes before the minute's worth is used up, at whichever refusal it is counted.
    if (isWindowed(incident)) {
      // What was taken just before the first refusal is heard of with what came after it, and then nothing was taken.
      const first = traffic.taken(kind, incident.began - MINUTE_MS, Math.min(incident.last, incident.heardBy));
      return Math.min(first, traffic.taken(kind, incident.last - MINUTE_MS, incident.last));
    }
    // What was found just now is too much: between two refusals a bucket gives what it is filled with.
    const since = incident.began - this.#refusedLast;
    if (known !== undefined && since < SOON_MS && since > 0 && spread([uses[kind], this.#past[0]?.uses[kind] ?? 0]) > SAME) {
      const given = (traffic.taken(kind, this.#refusedLast, incident.began) * MINUTE_MS) / since;
      return Math.min(uses[kind], Math.max(given, SOON_CUT * known));
    }
    // A minute of which only a part has passed says too little.
    if (incident.began - traffic.first >= MINUTE_MS) return uses[kind];
    return Math.max(uses[kind], (incident.delivered ?? incident.before) * traffic.mean(kind));
  }
}

const isWindowed = ({ silence, waited }: Incident): boolean => Math.max(silence, waited) > WINDOW_SILENCE_MS;

/** What was used in the minute before `time`, and in flight. */
export function usesAt(traffic: Traffic, time: number, concurrent: number): Uses {
  const uses: Record<LimitKind, number> = { concurrent, requests: 0, tokens: 0, input_tokens: 0, output_tokens: 0 };
  for (const kind of RATE_KINDS) uses[kind] = traffic.taken(kind, time - MINUTE_MS, time);
  return uses;
}

/** What would be used in a minute as it was in the last seconds before `time`. */
function pacesAt(traffic: Traffic, time: number): Uses {
  const paces: Record<LimitKind, number> = { concurrent: 0, requests: 0, tokens: 0, input_tokens: 0, output_tokens: 0 };
  for (const kind of RATE_KINDS) paces[kind] = (traffic.taken(kind, time - SHORT_MS, time) * MINUTE_MS) / SHORT_MS;
  return paces;
}

/** The pace at which requests were refused both times, though less was used in one of the two minutes: no minute is counted. 0 where that was not so. */
function shortOf(kind: LimitKind, [now, before]: readonly Past[]): number {
  if (now === undefined || before === undefined) return 0;
  const paces = [now.paces[kind], before.paces[kind]];
  const uses = [now.uses[kind], before.uses[kind]];
  const least = Math.min(...paces);
  return spread(paces) <= SAME && spread(uses) > SAME && least > BEYOND * Math.max(...uses) ? least : 0;
}
