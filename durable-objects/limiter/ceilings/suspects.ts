import { LIMIT_KINDS, type LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";

/** What was used of each kind when something was refused: requests and tokens of the minute before, and requests in flight. */
export type Uses = Readonly<Record<LimitKind, number>>;

export interface Suspicion {
  /** Of this incident first, then those before it, newest first. */
  readonly uses: readonly [Uses, ...Uses[]];
  /** Most that was used of each lately while nothing was refused. */
  readonly clean: Uses;
  /** Most requests in flight at one of its refusals: where the limit has fallen more than it are open at first. */
  readonly most_in_flight: number;
  /** Nothing was refused for a while before: a limit that is known may have fallen. */
  readonly isFirst: boolean;
  /** Kinds whose limit is known for sure. */
  readonly sure: ReadonlySet<LimitKind>;
  /** Everything was refused for a while, also with hardly anything in flight. */
  readonly silent: boolean;
  /** Limits that were known; absent where none was. */
  readonly limits: { readonly [K in LimitKind]?: number };
  /** Kinds of which more than a limit that was known was being tried. */
  readonly tried: ReadonlySet<LimitKind>;
  /** Kinds that the endpoint itself says there was plenty of. */
  readonly plenty: ReadonlySet<LimitKind>;
}

/** Less than this share of what went well before cannot be what is refused. */
const WENT_WELL = 0.9;
/** Of a kind that is limited less was used than would be refused. */
const NEAR = 0.9;
const COMPARED = 3;

/** The kind that is likeliest to be what binds: of those that a refusal can be for, the one of which least differs was used each time. */
export function bindingKind(suspicion: Suspicion): LimitKind {
  const { uses, clean, silent, limits, tried, plenty, sure, isFirst } = suspicion;
  const [now] = uses;
  const narrow = (kinds: readonly LimitKind[], holds: (kind: LimitKind) => boolean): readonly LimitKind[] => {
    const left = kinds.filter(holds);
    return left.length === 0 ? kinds : left;
  };
  let kinds: readonly LimitKind[] = LIMIT_KINDS.filter((kind) => now[kind] > 0);
  if (kinds.length === 0) kinds = ["requests"];
  kinds = narrow(kinds, (kind) => !plenty.has(kind));
  const most = { ...now, concurrent: suspicion.most_in_flight };
  kinds = narrow(kinds, (kind) => most[kind] >= WENT_WELL * clean[kind]);
  if (silent) kinds = narrow(kinds, (kind) => kind !== "concurrent");
  kinds = narrow(kinds, (kind) => most[kind] >= NEAR * (limits[kind] ?? 0));
  kinds = narrow(kinds, (kind) => tried.has(kind));
  if (isFirst) kinds = narrow(kinds, (kind) => sure.has(kind));
  const compared = uses.slice(0, COMPARED);
  const spreads = new Map(kinds.map((kind) => [kind, spread(compared.map((use) => use[kind]))]));
  return preferred(kinds, (kind) => spreads.get(kind) ?? 0);
}

/** How much the largest is above the smallest, as a share. */
function spread(values: readonly number[]): number {
  const least = Math.min(...values);
  return least <= 0 ? Number.POSITIVE_INFINITY : Math.max(...values) / least - 1;
}

/** Smaller differences than this are noise. */
const NOISE = 0.02;
/** In this order where nothing tells them apart: a mix of requests that stays the same is bounded as well by either. */
const ORDER: readonly LimitKind[] = ["requests", "tokens", "output_tokens", "input_tokens", "concurrent"];

function preferred(kinds: readonly LimitKind[], spreadOf: (kind: LimitKind) => number): LimitKind {
  const least = Math.min(...kinds.map(spreadOf));
  const found = ORDER.find((kind) => kinds.includes(kind) && spreadOf(kind) <= Math.max(NOISE, least * 1.5));
  return found ?? "requests";
}
