import { LIMIT_KINDS, type LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";

/** What was used of each kind when something was refused: requests and tokens of the minute before, and requests in flight. */
export type Uses = Readonly<Record<LimitKind, number>>;

export interface Suspicion {
  readonly uses: Uses;
  /** Of the incidents before it, newest first. */
  readonly before: readonly Uses[];
  /** Requests in flight at its refusals: where their limit has fallen, more than that are open at first. */
  readonly in_flight: { readonly least: number; readonly most: number };
  /** Nothing was refused for a while before: a limit that is known may have fallen. */
  readonly isFirst: boolean;
  /** Most that was used of each lately while nothing was refused. */
  readonly clean: Uses;
  /** Limits that were known; absent where none was. */
  readonly limits: { readonly [K in LimitKind]?: number };
  /** Kinds whose limit is known for sure, and those of which more than that was being tried. */
  readonly sure: ReadonlySet<LimitKind>;
  readonly tried: ReadonlySet<LimitKind>;
  /** Those that are known to be saved up: more went well of them in a minute than comes in. */
  readonly buckets: ReadonlySet<LimitKind>;
  /** Kinds that the endpoint itself says there was plenty of. */
  readonly plenty: ReadonlySet<LimitKind>;
}

/** Less than this share of what went well before cannot be what is refused. */
const WENT_WELL = 0.9;
/** Of a kind that is limited less was used than would be refused. */
const NEAR = 0.9;
/** Incidents that are compared: older ones may have had another limit. */
const COMPARED = 3;
/** Larger differences are no limit that stayed the same. */
export const SAME = 0.06;
/** Smaller differences than this are noise. */
const NOISE = 0.02;
/** In this order where nothing tells them apart: a mix of requests that stays the same is bounded as well by either. */
const ORDER: readonly LimitKind[] = ["requests", "tokens", "output_tokens", "input_tokens", "concurrent"];

/** The kind that is likeliest to be what binds: of those that a refusal can be for, the one of which the same was used each time. */
export function bindingKind(suspicion: Suspicion): LimitKind {
  const { uses, before, clean, limits, tried, plenty, sure, buckets, isFirst, in_flight } = suspicion;
  const most = { ...uses, concurrent: in_flight.most };
  let kinds: readonly LimitKind[] = LIMIT_KINDS.filter((kind) => uses[kind] > 0);
  kinds = narrow(kinds, (kind) => !plenty.has(kind));
  kinds = narrow(kinds, (kind) => buckets.has(kind) || most[kind] >= WENT_WELL * clean[kind]);
  // Refused though nothing was open.
  if (in_flight.least < 1) kinds = narrow(kinds, (kind) => kind !== "concurrent");
  // A limit that is sure, unless it may just have fallen.
  kinds = narrow(kinds, (kind) => !isFirst || !sure.has(kind) || most[kind] >= NEAR * (limits[kind] ?? 0));
  // Where a limit that was known has just fallen nothing is as it was: it is the first suspect, unless another was the same each time before.
  // Of what was found a moment ago less is to be had than that.
  const isSuspect = (kind: LimitKind): boolean => (isFirst ? sure.has(kind) : limits[kind] !== undefined && !sure.has(kind));
  const known = kinds.filter((kind) => (tried.size > 0 ? tried.has(kind) : isSuspect(kind)));
  for (const compared of [[uses, ...before], before]) {
    const same = alike(kinds, compared);
    if (same.length > 0 && !same.some((kind) => known.includes(kind))) return first(same);
  }
  return first(known.length > 0 ? known : kinds);
}

const first = (kinds: readonly LimitKind[]): LimitKind => ORDER.find((kind) => kinds.includes(kind)) ?? "requests";

function narrow(kinds: readonly LimitKind[], holds: (kind: LimitKind) => boolean): readonly LimitKind[] {
  const left = kinds.filter(holds);
  return left.length === 0 ? kinds : left;
}

/** Those of which about the same was used at each of the newest incidents, and least differs; none where there is nothing to compare. */
function alike(kinds: readonly LimitKind[], uses: readonly Uses[]): readonly LimitKind[] {
  const compared = uses.slice(0, COMPARED);
  if (compared.length < 2) return [];
  // Of whole requests one more or less is no difference.
  const spreads = new Map(
    kinds.map((kind) => [
      kind,
      spread(
        compared.map((use) => use[kind]),
        kind === "concurrent" ? 1 : 0,
      ),
    ]),
  );
  const least = Math.min(...spreads.values());
  if (least > SAME) return [];
  return kinds.filter((kind) => (spreads.get(kind) ?? 0) <= Math.max(NOISE, least * 1.5));
}

/** How much the largest is above the smallest, as a share; `off`: of each value at most. */
export function spread(values: readonly number[], off = 0): number {
  const least = Math.min(...values);
  return least <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, (Math.max(...values) - off) / least) - 1;
}
