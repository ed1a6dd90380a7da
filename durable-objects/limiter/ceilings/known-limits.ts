import { LIMIT_KINDS, type LimitKind, RATE_KINDS, type RateKind, type ToldLimits } from "../../../src/endpoint-limits/limit-kinds.ts";
import { Ceiling } from "./ceiling.ts";
import type { Knowledge, KnownLimit } from "./knowledge.ts";
import type { Uses } from "./suspects.ts";
import { ToldNumbers } from "./told-limits.ts";
import type { Traffic } from "./traffic.ts";

/** Limits that were known when something began to be refused. */
export interface KnownThen {
  readonly paces: { readonly [K in LimitKind]?: number };
  readonly limits: { readonly [K in LimitKind]?: number };
  /** Kinds whose limit was sure, and those of which more than it was being tried. */
  readonly sure: ReadonlySet<LimitKind>;
  readonly tried: ReadonlySet<LimitKind>;
  /** Those that are known to be saved up, and those of which a bucket would just have been empty. */
  readonly buckets: ReadonlySet<LimitKind>;
  readonly spent: ReadonlySet<LimitKind>;
}

/** What a refusal came to. */
export interface Finding {
  readonly kind: LimitKind;
  readonly limit: number;
  /** It was counted over a whole window. */
  readonly sure: boolean;
  /** More than that was used in the minute before. */
  readonly isBucket: boolean;
  /** What the refusal says in words that the limit is. */
  readonly said: number | null;
}

/** Nearer numbers are the same limit: no two countings of it agree better. */
const SAME = 0.1;
/** The endpoint says that there is more than this share of a limit left: it is not what refuses. */
const PLENTY = 0.2;

/** The limit of each kind that is known, told or found, and which of what was told is untrue. */
export class KnownLimits {
  readonly #ceilings = new Map<LimitKind, Ceiling>();
  readonly #told = new ToldNumbers();

  constructor(knowledge: Knowledge | null, now: number) {
    for (const kind of LIMIT_KINDS) {
      const known = knowledge?.limits[kind];
      if (known === undefined) continue;
      this.#set(kind, known, true, { saved: known.limit, now });
      if (known.untrue !== undefined) this.#told.untrue(kind, known.untrue);
    }
  }

  get isEmpty(): boolean {
    return this.#ceilings.size === 0;
  }

  of(kind: LimitKind): Ceiling | undefined {
    return this.#ceilings.get(kind);
  }

  get now(): KnownThen {
    const all = [...this.#ceilings];
    const kindsOf = (holds: (ceiling: Ceiling) => boolean): ReadonlySet<LimitKind> => new Set(all.filter(([, one]) => holds(one)).map(([kind]) => kind));
    return {
      paces: Object.fromEntries(all.map(([kind, { pace }]) => [kind, pace])),
      limits: Object.fromEntries(all.map(([kind, { limit }]) => [kind, limit])),
      sure: kindsOf(({ sure }) => sure),
      tried: kindsOf(({ isAbove }) => isAbove),
      buckets: kindsOf(({ isBucket }) => isBucket),
      spent: kindsOf(({ isSpent }) => isSpent),
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

  /** What headers say is a limit at once. Where they were wrong before, they are taken to be wrong by the same factor. */
  hearTold(told: ToldLimits, now: number): void {
    for (const kind of RATE_KINDS) {
      const { limit, remaining } = told[kind] ?? {};
      if (limit === undefined) continue;
      if (this.#told.isNews(kind, limit)) this.#hearNews(kind, limit, now);
      const ceiling = this.#ceilings.get(kind);
      if (ceiling?.source === "told" && ceiling.limit === limit && remaining !== null && remaining !== undefined) ceiling.savings.told(remaining);
    }
  }

  #hearNews(kind: RateKind, limit: number, now: number): void {
    const found = this.#ceilings.get(kind);
    const corrected = this.#told.corrected(kind, limit, found?.source === "found" ? found.limit : null);
    if (corrected === limit) this.#set(kind, { limit, source: "told" }, true, { saved: limit, now });
    else {
      this.#set(kind, { limit: corrected, source: "found" }, false, { saved: corrected, now });
      // The next number is held against this one.
      this.#told.untrue(kind, limit);
    }
  }

  /** Kinds that headers say there is plenty of, as far as they are believed. */
  plentyIn(told: ToldLimits): readonly LimitKind[] {
    return RATE_KINDS.filter((kind) => {
      const { limit, remaining } = told[kind] ?? { limit: 0, remaining: null };
      return remaining !== null && remaining > PLENTY * limit && this.#told.isBelieved(kind, limit);
    });
  }

  /** A limit in the words of a refusal, where it can be true: nothing is refused before a limit is used up. */
  believed(kind: LimitKind, said: number | null, used: number): number | null {
    if (said === null || !this.#told.isBelieved(kind, said)) return null;
    if (said <= (1 + SAME) * used) return said;
    this.#told.untrue(kind, said);
    return null;
  }

  /** Every limit is held again where it is, or where it has grown to. */
  rest(uses: Uses): void {
    for (const [kind, ceiling] of this.#ceilings) ceiling.rest(uses[kind]);
  }

  /** Something was refused for this. */
  cut({ kind, limit, sure, isBucket, said }: Finding, then: KnownThen, now: number): void {
    // What else was blamed a moment ago was blamed wrongly.
    for (const [other, { source, sure }] of this.#ceilings) if (other !== kind && source === "found" && !sure) this.#ceilings.delete(other);
    const ceiling = this.#ceilings.get(kind);
    if (said !== null && ceiling?.limit !== said) return this.#set(kind, { limit: said, source: "told" }, true, { saved: 0, now });
    if (ceiling === undefined) return this.#set(kind, { limit, source: "found" }, sure, { saved: 0, now });
    ceiling.isBucket = isBucket;
    const lower = Math.max(1, Math.min(limit, then.paces[kind] ?? limit));
    // What it has just been raised to is nothing that it was found at before.
    const off = lower / (then.limits[kind] ?? ceiling.limit) - 1;
    if (ceiling.source === "told") {
      if (off > -SAME) return ceiling.savings.end(now);
      this.#told.untrue(kind, ceiling.limit);
      return this.#set(kind, { limit: lower, source: "found" }, sure, { saved: 0, now });
    }
    const same = Math.abs(off) <= SAME;
    // Noise is evened out; whole requests have none.
    const even = same && ceiling.sure && kind !== "concurrent";
    ceiling.cut(even ? (ceiling.limit + lower) / 2 : lower, same || sure, now);
  }

  /** What was taken of each until `to`, as far as it is known. */
  count(traffic: Traffic, to: number): void {
    for (const kind of RATE_KINDS) {
      const ceiling = this.#ceilings.get(kind);
      if (ceiling !== undefined && ceiling.savings.until < to) ceiling.count(traffic.taken(kind, ceiling.savings.until, to), to);
    }
  }

  /** `ms` without a refusal, in which those that `isUsed` holds for were used to the full. `mayTry`: refusals that trying costs are affordable. */
  passed(ms: number, mayTry: boolean, isUsed: (kind: LimitKind, pace: number) => boolean): void {
    for (const [kind, ceiling] of this.#ceilings) {
      if (!isUsed(kind, ceiling.pace)) continue;
      ceiling.passed(ms, mayTry);
      if (ceiling.source === "told" && ceiling.isDisproved && ceiling.pace > ceiling.limit * (1 + SAME)) {
        this.#told.untrue(kind, ceiling.limit);
        ceiling.source = "found";
      }
      if (ceiling.isGone) this.#ceilings.delete(kind);
    }
  }

  #set(kind: LimitKind, { limit, source }: Pick<KnownLimit, "limit" | "source">, sure: boolean, since: { readonly saved: number; readonly now: number }): void {
    this.#ceilings.set(kind, new Ceiling(limit, source, kind === "concurrent" ? "concurrent" : "rate", { sure, ...since }));
  }
}
