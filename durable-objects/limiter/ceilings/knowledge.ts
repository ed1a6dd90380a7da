import { LIMIT_KINDS, type LimitKind } from "../../../src/endpoint-limits/limit-kinds.ts";

/** What a Limiter keeps of an endpoint between its lives; as JSON some hundred bytes. Another version is as good as none: it is found anew. */
export interface Knowledge {
  readonly version: 1;
  readonly limits: { readonly [K in LimitKind]?: KnownLimit };
}

export interface KnownLimit {
  /** Per minute, or in flight. */
  readonly limit: number;
  readonly source: "told" | "found";
  /** What the endpoint says that it is, and is not. */
  readonly untrue?: number;
}

/** What was stored, as far as it is understood; null where it is not. */
export function knowledgeOf(stored: unknown): Knowledge | null {
  const { version, limits } = (stored ?? {}) as { version?: unknown; limits?: { [K in LimitKind]?: Partial<KnownLimit> } };
  if (version !== 1 || typeof limits !== "object" || limits === null) return null;
  const known: { [K in LimitKind]?: KnownLimit } = {};
  for (const kind of LIMIT_KINDS) {
    const { limit, source, untrue } = limits[kind] ?? {};
    if (!isLimit(limit) || (source !== "told" && source !== "found")) continue;
    known[kind] = { limit, source, ...(isLimit(untrue) ? { untrue } : {}) };
  }
  return { version: 1, limits: known };
}

const isLimit = (value: unknown): value is number => typeof value === "number" && value > 0 && Number.isFinite(value);

/** A limit that moves by less than this share of itself needs no write: it is found again within seconds. */
const MATERIAL_SHARE = 0.05;

/** Whether what is known now is so different from what is stored that it should be stored. */
export function isMaterial(stored: Knowledge | null, now: Knowledge): boolean {
  return LIMIT_KINDS.some((kind) => {
    const [before, after] = [stored?.limits[kind], now.limits[kind]];
    if (before === undefined || after === undefined) return before !== after;
    return before.source !== after.source || Math.abs(after.limit - before.limit) > MATERIAL_SHARE * before.limit;
  });
}
